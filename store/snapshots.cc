#include "store/snapshots.h"

#include <fmt/format.h>

#include "base/rng.h"
#include "store/rows.h"

namespace store {

namespace {

// Of everything that it says: a seq or a program that changed is as wrong as another payload.
std::int64_t hash_of(const Snapshot& snapshot) {
  const auto begun = base::seed_from(static_cast<std::uint64_t>(snapshot.seq), snapshot.program);
  return static_cast<std::int64_t>(base::seed_from(begun, snapshot.payload));
}

tl::unexpected<base::Error> useless(const Connection& db, const std::string& what) {
  return base::fail(base::ErrorCode::corrupt, "the snapshot is of no use: " + what,
                    db.file().string());
}

}  // namespace

base::Status replace_snapshot(Connection& db, const Snapshot& snapshot) {
  NS_TRY(db.execute("DELETE FROM snapshots"));
  NS_TRY(db.execute("INSERT INTO snapshots (seq, program, hash, payload) VALUES (?, ?, ?, ?)",
                    snapshot.seq, snapshot.program, hash_of(snapshot), snapshot.payload));
  return {};
}

base::Result<std::optional<Snapshot>> newest_snapshot(Connection& db, std::int64_t last_seq) {
  std::int64_t hash = 0;
  NS_ASSIGN(found,
            one_row(db.query("SELECT seq, program, hash, payload FROM snapshots ORDER BY seq DESC "
                             "LIMIT 1"),
                    [&](const Statement& row) -> base::Result<Snapshot> {
                      hash = row.integer(2);
                      return Snapshot{row.integer(0), row.string(1), row.string(3)};
                    }));
  if (!found) return found;
  if (found->seq > last_seq) {
    return useless(db,
                   fmt::format("it holds event {}, the log ends with {}", found->seq, last_seq));
  }
  if (hash_of(*found) != hash) return useless(db, "its hash does not fit, so it is damaged");
  return found;
}

}  // namespace store

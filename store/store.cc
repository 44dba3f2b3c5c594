#include "store/store.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/os_error.h"
#include "store/backup.h"
#include "store/event_log.h"
#include "store/projection.h"
#include "store/schema.h"
#include "store/snapshots.h"

namespace store {

struct Store::Impl {
  Connection db;
  std::int64_t last_seq = 0;
  std::int64_t commits = 0;  // begun by this process
  CommitObserver* observer = nullptr;
  std::uintmax_t wal_tried = 0;  // its size when it could not be cut
};

namespace {

constexpr std::uintmax_t kWalTarget = 32 << 20, kWalStep = 4 << 20;
constexpr int kWalWaitMs = 100;  // for own readers, which end sooner

// SQLite says only that it "cannot open" the files that it keeps beside the database.
base::Status expect_writable(const std::filesystem::path& folder) {
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return base::os_fail(errno, "write to the state folder", folder);
}

// FULL: a commit has reached the disk when it returns. The write-ahead log is copied into the
// database every 16 MiB, and cut back to 64 MiB after a long reader has let it grow. 64 MiB of
// pages are kept.
base::Status set_up(Connection& db, base::Durability durability) {
  const std::string synchronous = durability == base::Durability::synced ? "FULL" : "NORMAL";
  return db.script(
      "PRAGMA journal_mode = WAL;"
      "PRAGMA synchronous = " +
      synchronous +
      ";"
      "PRAGMA foreign_keys = ON;"
      "PRAGMA wal_autocheckpoint = 4000;"
      "PRAGMA journal_size_limit = 67108864;"
      "PRAGMA cache_size = -65536;"
      "PRAGMA temp_store = MEMORY;");
}

base::Status expect_sole_writer(Connection& db, std::int64_t last_seq) {
  NS_ASSIGN(found, last_event(db));
  if (found == last_seq) return {};
  return base::fail(base::ErrorCode::conflict,
                    fmt::format("expected event {} to be the last, found {}: another process has "
                                "written; stop it and start this one again",
                                last_seq, found),
                    db.file().string());
}

base::Status write(Connection& db, const Commit& commit, std::int64_t last_seq) {
  std::int64_t seq = last_seq;
  for (const auto& fact : commit.facts) NS_TRY(append(db, ++seq, commit.at, fact));
  NS_TRY(project(db, last_seq + 1, commit.facts));
  for (const auto& effect : commit.pending) NS_TRY(add_pending(db, effect));
  for (auto effect : commit.done) NS_TRY(remove_done(db, effect));
  return {};
}

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

base::Result<Store> Store::open(const std::filesystem::path& folder, base::Durability durability) {
  NS_TRY(base::ensure_folder(folder));
  NS_TRY(expect_writable(folder));
  NS_ASSIGN(db, Connection::open(folder / kDatabaseFile, Connection::Mode::create));
  NS_TRY(
      schema_version(db, kSchemaVersion));  // before anything is written to a file that is not ours
  NS_TRY(check_at_start(db));
  NS_TRY(set_up(db, durability));
  NS_TRY(migrate(db));
  NS_ASSIGN(last, last_event(db));
  return Store(std::make_unique<Impl>(Impl{std::move(db), last}));
}

base::Status Store::commit(const Commit& commit) {
  Impl& impl = *impl_;
  for (const auto& fact : commit.facts) NS_TRY(check_storable(fact));
  const std::int64_t nth = ++impl.commits;
  NS_ASSIGN(transaction, Transaction::begin(impl.db, Transaction::Kind::write));
  NS_TRY(expect_sole_writer(impl.db, impl.last_seq));
  NS_TRY(write(impl.db, commit, impl.last_seq));
  if (impl.observer) NS_TRY(impl.observer->before_commit(nth, commit));
  NS_TRY(transaction.commit());
  impl.last_seq += static_cast<std::int64_t>(commit.facts.size());
  bound_wal();
  if (impl.observer) impl.observer->after_commit(nth, commit);
  return {};
}

base::Status Store::replay(const std::function<base::Status(const Event&)>& visit,
                           std::int64_t after) const {
  return each_event(impl_->db, after, -1, visit);
}

base::Status Store::save_snapshot(const Snapshot& snapshot) {
  NS_ASSIGN(transaction, Transaction::begin(impl_->db, Transaction::Kind::write));
  NS_TRY(replace_snapshot(impl_->db, snapshot));
  return transaction.commit();
}

base::Result<std::optional<Snapshot>> Store::snapshot() const {
  return newest_snapshot(impl_->db, impl_->last_seq);
}

base::Result<std::vector<PendingEffect>> Store::outbox() const {
  return pending_effects(impl_->db);
}

std::int64_t Store::last_seq() const { return impl_->last_seq; }

const std::filesystem::path& Store::file() const { return impl_->db.file(); }

std::uintmax_t Store::wal_bytes() const {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(impl_->db.file().string() + "-wal", none);
  return none ? 0 : bytes;
}

base::Result<bool> Store::cut_wal(int wait_ms) {
  sqlite3* db = impl_->db.handle();
  sqlite3_busy_timeout(db, wait_ms);
  auto blocked = impl_->db.integer("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite3_busy_timeout(db, kBusyMs);
  if (!blocked) return tl::unexpected(blocked.error());
  return *blocked == 0;
}

// Readers that follow each other closely keep SQLite from beginning the log anew by itself. Tried
// again only after the log has grown, so that a reader who stays costs little.
void Store::bound_wal() {
  const std::uintmax_t bytes = wal_bytes();
  if (bytes < kWalTarget) impl_->wal_tried = 0;
  if (bytes < kWalTarget || bytes < impl_->wal_tried + kWalStep) return;
  impl_->wal_tried = bytes;
  (void)cut_wal(kWalWaitMs);  // what is wrong with the disk, the next commit will say
}

void Store::observe(CommitObserver* observer) { impl_->observer = observer; }

base::Status Store::backup_to(const std::filesystem::path& file) const {
  return back_up(impl_->db, file);
}

}  // namespace store

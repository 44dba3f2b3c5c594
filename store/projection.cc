#include "store/projection.h"

#include "store/event_log.h"

namespace store {

base::Status project(Connection& db, const Event& event) {
  return std::visit([&](const auto& fact) { return project(db, event.seq, fact); }, event.fact);
}

base::Status rebuild(Connection& db) {
  NS_ASSIGN(transaction, Transaction::begin(db, Transaction::Kind::write));
  // Referring tables before those they refer to.
  for (const char* table :
       {"observations", "runs", "experiments", "merge_answers", "merges", "answers",
        "hypotheses_fts", "hypotheses", "journal", "nights", "campaigns", "counters"}) {
    NS_TRY(db.execute(std::string("DELETE FROM ") + table));
  }
  NS_TRY(each_event(db, 0, -1, [&](const Event& event) { return project(db, event); }));
  return transaction.commit();
}

base::Status expect_known(const base::Result<std::int64_t>& changed, const std::string& id) {
  if (!changed) return tl::unexpected(changed.error());
  if (*changed > 0) return {};
  return base::fail(base::ErrorCode::not_found,
                    "expected an id that an earlier fact introduced, found one never recorded", id);
}

}  // namespace store

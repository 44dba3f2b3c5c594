#include "store/projection.h"

#include "store/event_log.h"

namespace store {

namespace {
constexpr std::size_t kBatch = 1000;  // facts of a rebuild that are kept in memory
}  // namespace

base::Status project(Connection& db, std::int64_t first, std::span<const hypotheses::Fact> facts) {
  for (const auto& fact : facts) {
    const std::int64_t seq = first + (&fact - facts.data());
    NS_TRY(
        std::visit([&](const auto& alternative) { return project(db, seq, alternative); }, fact));
  }
  return add_costs(db, facts);
}

base::Status rebuild(Connection& db) {
  NS_ASSIGN(transaction, Transaction::begin(db, Transaction::Kind::write));
  // Referring tables before those they refer to.
  for (const char* table :
       {"observations", "runs", "experiments", "merge_answers", "merges", "answers",
        "hypotheses_fts", "hypotheses", "journal", "nights", "campaigns", "counters"}) {
    NS_TRY(db.execute(std::string("DELETE FROM ") + table));
  }
  std::vector<hypotheses::Fact> facts;
  std::int64_t first = 1;
  auto project_those = [&] {
    auto status = project(db, first, facts);
    first += std::ssize(facts);
    facts.clear();
    return status;
  };
  NS_TRY(each_event(db, 0, -1, [&](const Event& event) -> base::Status {
    facts.push_back(event.fact);
    return facts.size() < kBatch ? base::Status() : project_those();
  }));
  NS_TRY(project_those());
  return transaction.commit();
}

base::Status expect_known(const base::Result<std::int64_t>& changed, const std::string& id) {
  if (!changed) return tl::unexpected(changed.error());
  if (*changed > 0) return {};
  return base::fail(base::ErrorCode::not_found,
                    "expected an id that an earlier fact introduced, found one never recorded", id);
}

}  // namespace store

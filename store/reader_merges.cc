#include <fmt/format.h>

#include "store/reader_impl.h"

namespace store {

namespace {

constexpr const char* kMerges =
    "SELECT m.state, m.reason, m.base, m.merged, m.known, m.unknown, m.landed_ref, m.remeasures, "
    "o.payload, a.payload FROM merges m JOIN events o ON o.seq = m.opened "
    "LEFT JOIN events a ON a.seq = m.approved ";

base::Result<std::vector<hypotheses::Answer>> answers_about(Connection& db,
                                                            hypotheses::MergeRequestId id) {
  return all_rows(db.query("SELECT e.payload FROM merge_answers a JOIN events e ON e.seq = a.seq "
                           "WHERE a.merge = ? ORDER BY a.seq",
                           id),
                  [&](const Statement& row) -> base::Result<hypotheses::Answer> {
                    NS_ASSIGN(fact, fact_at<hypotheses::MergeAnswered>(db, row, 0));
                    return std::move(fact.answer);
                  });
}

base::Result<hypotheses::MergeRequest> merge_at(Connection& db, const Statement& row) {
  NS_ASSIGN(opened, fact_at<hypotheses::MergeOpened>(db, row, 8));
  hypotheses::MergeRequest merge = std::move(opened.merge);
  NS_ASSIGN(state, row.word<hypotheses::MergeState>(0));
  merge.state = state;
  merge.reason = row.string(1);
  merge.base = row.commit(2);
  merge.merged = row.commit(3);
  merge.known = row.string(4);
  merge.unknown = row.string(5);
  merge.landed_ref = row.string(6);
  if (merge.remeasures != row.integer(7)) merge.answers.clear();
  merge.remeasures = static_cast<int>(row.integer(7));
  if (!row.null(9)) {
    NS_ASSIGN(approved, fact_at<hypotheses::MergeApproved>(db, row, 9));
    merge.approved_commit = std::move(approved.commit);
    merge.approved_by = std::move(approved.who);
    merge.approved_at = approved.at;
  }
  NS_ASSIGN(answers, answers_about(db, merge.id));
  std::move(answers.begin(), answers.end(), std::back_inserter(merge.answers));
  return merge;
}

}  // namespace

base::Result<std::vector<hypotheses::MergeRequest>> Reader::merges(
    Page<hypotheses::MergeRequestId> page) const {
  auto& db = impl_->db;
  NS_ASSIGN(snapshot, Transaction::begin(db, Transaction::Kind::read));
  return all_rows(db.query(fmt::format("{} WHERE m.id < ? ORDER BY m.id DESC LIMIT ?", kMerges),
                           upper_end(page), page_size(page)),
                  [&](const Statement& row) { return merge_at(db, row); });
}

base::Result<std::optional<hypotheses::MergeRequest>> Reader::merge(
    hypotheses::MergeRequestId id) const {
  auto& db = impl_->db;
  NS_ASSIGN(snapshot, Transaction::begin(db, Transaction::Kind::read));
  return one_row(db.query(fmt::format("{} WHERE m.id = ?", kMerges), id),
                 [&](const Statement& row) { return merge_at(db, row); });
}

}  // namespace store

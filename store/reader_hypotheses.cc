#include <fmt/format.h>

#include "store/reader_impl.h"
#include "store/search_text.h"

namespace store {

namespace {

constexpr const char* kHypothesisColumns =
    "SELECT h.state, h.verdict, h.reason, h.cost_s, h.night, o.payload, t.payload, c.payload, "
    "d.payload ";
constexpr const char* kHypothesisEvents =
    "JOIN events o ON o.seq = h.opened LEFT JOIN events t ON t.seq = h.taken "
    "LEFT JOIN events c ON c.seq = h.candidate LEFT JOIN events d ON d.seq = h.decided ";

base::Result<std::vector<hypotheses::Answer>> answers_to(Connection& db,
                                                         hypotheses::HypothesisId id) {
  return all_rows(db.query("SELECT e.payload FROM answers a JOIN events e ON e.seq = a.seq "
                           "WHERE a.hypothesis = ? ORDER BY a.seq",
                           id),
                  [&](const Statement& row) -> base::Result<hypotheses::Answer> {
                    NS_ASSIGN(fact, fact_at<hypotheses::QuestionAnswered>(db, row, 0));
                    return std::move(fact.answer);
                  });
}

// A page of a list is read in a third of the time without what lists do not show.
enum class Detail { list, whole };

// What the later facts made of the hypothesis that was opened.
base::Status add_progress(Connection& db, const Statement& row, Detail detail,
                          hypotheses::Hypothesis& hypothesis) {
  if (!row.null(6)) {
    NS_ASSIGN(taken, fact_at<hypotheses::HypothesisTaken>(db, row, 6));
    hypothesis.parent = taken.parent;
    hypothesis.base = std::move(taken.base);
    hypothesis.why_taken = std::move(taken.why);
  }
  if (detail == Detail::whole && !row.null(7)) {
    NS_ASSIGN(made, fact_at<hypotheses::CandidateMade>(db, row, 7));
    hypothesis.candidate = std::move(made.commit);
    hypothesis.branch = std::move(made.branch);
    hypothesis.paths = std::move(made.paths);
  }
  if (!row.null(8)) {
    NS_ASSIGN(decided, fact_at<hypotheses::HypothesisDecided>(db, row, 8));
    hypothesis.evidence = std::move(decided.evidence);
  }
  if (detail == Detail::list) return {};
  NS_ASSIGN(answers, answers_to(db, hypothesis.id));
  std::move(answers.begin(), answers.end(), std::back_inserter(hypothesis.answers));
  return {};
}

base::Result<hypotheses::Hypothesis> hypothesis_at(Connection& db, const Statement& row,
                                                   Detail detail) {
  NS_ASSIGN(opened, fact_at<hypotheses::HypothesisOpened>(db, row, 5));
  hypotheses::Hypothesis hypothesis = std::move(opened.hypothesis);
  NS_ASSIGN(state, row.word<hypotheses::HypothesisState>(0));
  hypothesis.state = state;
  if (!row.null(1)) {
    NS_ASSIGN(verdict, row.word<hypotheses::Verdict>(1));
    hypothesis.verdict = verdict;
  }
  hypothesis.reason = row.string(2);
  hypothesis.cost_s = row.real(3);
  hypothesis.night = row.id<hypotheses::NightId>(4);
  NS_TRY(add_progress(db, row, detail, hypothesis));
  return hypothesis;
}

// Only the conditions that are asked for, so that an index serves each combination. A night belongs
// to one campaign: with a night given the campaign is checked, not looked up.
std::string page_query(const HypothesisFilter& filter) {
  std::string from =
      filter.text.empty()
          ? "FROM hypotheses h "
          : "FROM hypotheses_fts CROSS JOIN hypotheses h ON h.id = hypotheses_fts.rowid ";
  std::string id = filter.text.empty() ? "h.id" : "hypotheses_fts.rowid";
  std::string where = fmt::format("WHERE {} < ?1 ", id);
  if (filter.night) where += "AND h.night = ?2 ";
  if (filter.campaign) where += filter.night ? "AND +h.campaign = ?3 " : "AND h.campaign = ?3 ";
  if (filter.verdict) where += "AND h.verdict = ?4 ";
  if (!filter.text.empty()) where += "AND hypotheses_fts MATCH ?5 ";
  return fmt::format("{}{}{}{}ORDER BY {} DESC LIMIT ?6", kHypothesisColumns, from,
                     kHypothesisEvents, where, id);
}

}  // namespace

base::Result<std::vector<hypotheses::Hypothesis>> Reader::hypotheses(
    const HypothesisFilter& filter, Page<hypotheses::HypothesisId> page) const {
  auto& db = impl_->db;
  const std::string search = search_expression(filter.text);
  if (!filter.text.empty() && search.empty()) return {};  // nothing in it to look for
  NS_ASSIGN(snapshot, Transaction::begin(db, Transaction::Kind::read));
  return all_rows(db.query(page_query(filter), upper_end(page), filter.night, filter.campaign,
                           filter.verdict, search, page_size(page)),
                  [&](const Statement& row) { return hypothesis_at(db, row, Detail::list); });
}

base::Result<std::optional<hypotheses::Hypothesis>> Reader::hypothesis(
    hypotheses::HypothesisId id) const {
  auto& db = impl_->db;
  NS_ASSIGN(snapshot, Transaction::begin(db, Transaction::Kind::read));
  return one_row(db.query(fmt::format("{}FROM hypotheses h {}WHERE h.id = ?", kHypothesisColumns,
                                      kHypothesisEvents),
                          id),
                 [&](const Statement& row) { return hypothesis_at(db, row, Detail::whole); });
}

}  // namespace store

#include "store/event_log.h"
#include "store/projection.h"

namespace store {

base::Status project(Connection& db, Seq seq, const hypotheses::HypothesisOpened& fact) {
  const auto& opened = fact.hypothesis;
  NS_TRY(
      db.execute("INSERT INTO hypotheses (id, campaign, night, opened, state, verdict, reason, "
                 "cost_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                 opened.id, opened.campaign, opened.night, seq, opened.state, opened.verdict,
                 opened.reason, opened.cost_s));
  NS_TRY(db.execute("INSERT INTO hypotheses_fts (rowid, claim, reason) VALUES (?, ?, ?)", opened.id,
                    opened.claim, opened.reason));
  return count(db, "hypotheses");
}

// A move without a reason keeps the last one.
base::Status project(Connection& db, Seq, const hypotheses::HypothesisMoved& fact) {
  NS_TRY(expect_known(db.execute("UPDATE hypotheses SET state = ?1, "
                                 "reason = iif(?2 = '', reason, ?2) WHERE id = ?3",
                                 fact.state, fact.reason, fact.hypothesis),
                      fact.hypothesis.text()));
  if (fact.reason.empty()) return {};
  NS_TRY(db.execute("UPDATE hypotheses_fts SET reason = ? WHERE rowid = ?", fact.reason,
                    fact.hypothesis));
  return {};
}

// Its parent and base are read from the event.
base::Status project(Connection& db, Seq seq, const hypotheses::HypothesisTaken& fact) {
  return expect_known(
      db.execute("UPDATE hypotheses SET state = ?, night = ?, taken = ? WHERE id = ?",
                 hypotheses::HypothesisState::preparing, fact.night, seq, fact.hypothesis),
      fact.hypothesis.text());
}

// The commit, branch and paths are read from the event.
base::Status project(Connection& db, Seq seq, const hypotheses::CandidateMade& fact) {
  return expect_known(db.execute("UPDATE hypotheses SET state = ?, candidate = ? WHERE id = ?",
                                 hypotheses::HypothesisState::testing, seq, fact.hypothesis),
                      fact.hypothesis.text());
}

base::Status project(Connection& db, Seq seq, const hypotheses::QuestionAnswered& fact) {
  NS_TRY(db.execute("INSERT INTO answers (seq, hypothesis) VALUES (?, ?)", seq, fact.hypothesis));
  return {};
}

// Its evidence is read from the event.
base::Status project(Connection& db, Seq seq, const hypotheses::HypothesisDecided& fact) {
  NS_TRY(expect_known(
      db.execute(
          "UPDATE hypotheses SET state = ?, verdict = ?, reason = ?, decided = ? WHERE id = ?",
          hypotheses::HypothesisState::decided, fact.verdict, fact.reason, seq, fact.hypothesis),
      fact.hypothesis.text()));
  NS_TRY(db.execute("UPDATE hypotheses_fts SET reason = ? WHERE rowid = ?", fact.reason,
                    fact.hypothesis));
  return {};
}

}  // namespace store

#include "store/event_log.h"
#include "store/projection.h"

namespace store {

base::Status project(Connection& db, Seq seq, const hypotheses::MergeOpened& fact) {
  const auto& merge = fact.merge;
  NS_TRY(
      db.execute("INSERT INTO merges (id, opened, state, reason, base, merged, known, unknown, "
                 "landed_ref, remeasures) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 merge.id, seq, merge.state, merge.reason, merge.base, merge.merged, merge.known,
                 merge.unknown, merge.landed_ref, merge.remeasures));
  return {};
}

// Back to preparing: the base moved, and a new merge commit will need its own evidence. Otherwise
// what the fact leaves empty stays as it was.
base::Status project(Connection& db, Seq, const hypotheses::MergeChanged& fact) {
  if (fact.state == hypotheses::MergeState::preparing) {
    NS_TRY(db.execute("DELETE FROM merge_answers WHERE merge = ?", fact.merge));
    NS_TRY(db.execute("UPDATE merges SET merged = '', remeasures = remeasures + 1 WHERE id = ?",
                      fact.merge));
  }
  return expect_known(
      db.execute("UPDATE merges SET state = ?1, reason = ?2, base = iif(?3 = '', base, ?3), "
                 "merged = iif(?4 = '', merged, ?4), landed_ref = iif(?5 = '', landed_ref, ?5), "
                 "known = iif(?6 = '', known, ?6), unknown = iif(?7 = '', unknown, ?7) "
                 "WHERE id = ?8",
                 fact.state, fact.reason, fact.base, fact.merged, fact.landed_ref, fact.known,
                 fact.unknown, fact.merge),
      fact.merge.text());
}

base::Status project(Connection& db, Seq seq, const hypotheses::MergeAnswered& fact) {
  NS_TRY(db.execute("INSERT INTO merge_answers (seq, merge) VALUES (?, ?)", seq, fact.merge));
  return {};
}

// Who approved which commit is read from the event.
base::Status project(Connection& db, Seq seq, const hypotheses::MergeApproved& fact) {
  return expect_known(db.execute("UPDATE merges SET state = ?, approved = ? WHERE id = ?",
                                 hypotheses::MergeState::approved, seq, fact.merge),
                      fact.merge.text());
}

}  // namespace store

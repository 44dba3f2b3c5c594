#include "store/event_log.h"
#include "store/projection.h"

namespace store {

namespace {

base::Status journal(Connection& db, Seq seq, const hypotheses::Fact& fact,
                     hypotheses::CampaignId campaign, hypotheses::NightId night) {
  NS_TRY(db.execute("INSERT INTO journal (seq, kind, campaign, night) VALUES (?, ?, ?, ?)", seq,
                    hypotheses::kind_of(fact), campaign, night));
  return {};
}

}  // namespace

base::Status project(Connection& db, Seq seq, const hypotheses::NightDue& fact) {
  return journal(db, seq, fact, fact.campaign, {});
}
base::Status project(Connection& db, Seq seq, const hypotheses::IncumbentChosen& fact) {
  return journal(db, seq, fact, {}, fact.night);
}
base::Status project(Connection& db, Seq seq, const hypotheses::ProposalRefused& fact) {
  return journal(db, seq, fact, fact.campaign, fact.night);
}
base::Status project(Connection& db, Seq seq, const hypotheses::NoiseMeasured& fact) {
  return journal(db, seq, fact, {}, fact.night);
}
base::Status project(Connection& db, Seq seq, const hypotheses::TimelineRead& fact) {
  return journal(db, seq, fact, {}, fact.night);
}
base::Status project(Connection& db, Seq seq, const hypotheses::PlannerSpoke& fact) {
  return journal(db, seq, fact, fact.turn.campaign, fact.turn.night);
}
base::Status project(Connection& db, Seq seq, const hypotheses::TargetFetched& fact) {
  return journal(db, seq, fact, fact.campaign, {});
}
base::Status project(Connection& db, Seq seq, const hypotheses::Noted& fact) {
  return journal(db, seq, fact, fact.campaign, fact.night);
}

}  // namespace store

#include "store/event_log.h"
#include "store/projection.h"

namespace store {

base::Status project(Connection& db, Seq seq, const hypotheses::CampaignCreated& fact) {
  NS_TRY(db.execute("INSERT INTO campaigns (id, created, state) VALUES (?, ?, ?)", fact.campaign.id,
                    seq, fact.campaign.state));
  return count(db, "campaigns");
}

base::Status project(Connection& db, Seq, const hypotheses::CampaignChanged& fact) {
  return expect_known(
      db.execute("UPDATE campaigns SET state = ? WHERE id = ?", fact.state, fact.campaign),
      fact.campaign.text());
}

base::Status project(Connection& db, Seq seq, const hypotheses::NightStarted& fact) {
  const auto& night = fact.night;
  NS_TRY(
      db.execute("INSERT INTO nights (id, campaign, started, state, ended_ms, reason) "
                 "VALUES (?, ?, ?, ?, ?, ?)",
                 night.id, night.campaign, seq, night.state, night.ended, night.reason));
  return count(db, "nights");
}

base::Status project(Connection& db, Seq, const hypotheses::NightEnded& fact) {
  return expect_known(
      db.execute("UPDATE nights SET state = ?, ended_ms = ?, reason = ? WHERE id = ?",
                 hypotheses::NightState::ended, fact.at, fact.reason, fact.night),
      fact.night.text());
}

}  // namespace store

#include "store/event_log.h"
#include "store/projection.h"

namespace store {

base::Status project(Connection& db, Seq seq, const hypotheses::ExperimentStarted& fact) {
  const auto& started = fact.experiment;
  NS_TRY(
      db.execute("INSERT INTO experiments (id, night, hypothesis, merge, started, state, cost_s) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?)",
                 started.id, started.night, started.hypothesis, started.merge, seq, started.state,
                 started.cost_s));
  return count_one(db, "experiments");
}

// What it cost counts for its experiment and for its hypothesis.
base::Status project(Connection& db, Seq seq, const hypotheses::RunRecorded& fact) {
  const auto& run = fact.run;
  NS_TRY(db.execute("INSERT INTO runs (id, experiment, recorded) VALUES (?, ?, ?)", run.id,
                    run.experiment, seq));
  int ordinal = 0;
  for (const auto& observation : run.observations) {
    NS_TRY(
        db.execute("INSERT INTO observations (metric, conditions, side, run, ordinal, value, unit) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?)",
                   observation.key.metric, hypotheses::to_text(observation.key.conditions),
                   run.side, run.id, ordinal++, observation.value, observation.unit));
  }
  NS_TRY(db.execute("UPDATE experiments SET cost_s = cost_s + ? WHERE id = ?", run.wall_s,
                    run.experiment));
  NS_TRY(
      db.execute("UPDATE hypotheses SET cost_s = cost_s + ? "
                 "WHERE id = (SELECT hypothesis FROM experiments WHERE id = ?)",
                 run.wall_s, run.experiment));
  return count_one(db, "runs");
}

// Its answer is read from the event.
base::Status project(Connection& db, Seq seq, const hypotheses::ExperimentFinished& fact) {
  return expect_known(db.execute("UPDATE experiments SET state = ?, finished = ? WHERE id = ?",
                                 hypotheses::ExperimentState::finished, seq, fact.experiment),
                      fact.experiment.text());
}

base::Status project(Connection& db, Seq, const hypotheses::ExperimentCancelled& fact) {
  return expect_known(db.execute("UPDATE experiments SET state = ? WHERE id = ?",
                                 hypotheses::ExperimentState::cancelled, fact.experiment),
                      fact.experiment.text());
}

}  // namespace store

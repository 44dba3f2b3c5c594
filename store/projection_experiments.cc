#include <map>

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
  return count(db, "experiments");
}

// What it cost is added by add_costs().
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
  return {};
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

namespace {

// A cost as it stood, and with what was added since.
struct Cost {
  double s = 0;
  hypotheses::HypothesisId hypothesis;  // of an experiment
};

base::Result<Cost> cost_of(Connection& db, hypotheses::ExperimentId id) {
  NS_ASSIGN(row, db.query("SELECT cost_s, hypothesis FROM experiments WHERE id = ?", id));
  NS_TRY(row.next());
  return Cost{row.real(0), row.id<hypotheses::HypothesisId>(1)};
}

base::Result<Cost> cost_of(Connection& db, hypotheses::HypothesisId id) {
  NS_ASSIGN(row, db.query("SELECT cost_s FROM hypotheses WHERE id = ?", id));
  NS_TRY(row.next());
  return Cost{row.real(0), {}};
}

// The entry, read when it is needed first.
template <class Id>
base::Result<Cost*> found(Connection& db, std::map<Id, Cost>& costs, Id id) {
  auto place = costs.find(id);
  if (place == costs.end()) {
    NS_ASSIGN(cost, cost_of(db, id));
    place = costs.emplace(id, cost).first;
  }
  return &place->second;
}

}  // namespace

base::Status add_costs(Connection& db, std::span<const hypotheses::Fact> facts) {
  std::map<hypotheses::ExperimentId, Cost> experiments;
  std::map<hypotheses::HypothesisId, Cost> hypotheses;
  std::int64_t runs = 0;
  // One after the other, as the log has them: sums of real numbers depend on their order.
  for (const auto& fact : facts) {
    const auto* recorded = std::get_if<hypotheses::RunRecorded>(&fact);
    if (recorded == nullptr) continue;
    ++runs;
    NS_ASSIGN(experiment, found(db, experiments, recorded->run.experiment));
    experiment->s += recorded->run.wall_s;
    if (!experiment->hypothesis) continue;
    NS_ASSIGN(hypothesis, found(db, hypotheses, experiment->hypothesis));
    hypothesis->s += recorded->run.wall_s;
  }
  for (const auto& [id, cost] : experiments) {
    NS_TRY(db.execute("UPDATE experiments SET cost_s = ? WHERE id = ?", cost.s, id));
  }
  for (const auto& [id, cost] : hypotheses) {
    NS_TRY(db.execute("UPDATE hypotheses SET cost_s = ? WHERE id = ?", cost.s, id));
  }
  if (runs == 0) return {};
  return count(db, "runs", runs);
}

}  // namespace store

#include "orchestrator/same_runs.h"

#include <algorithm>

namespace orchestrator {
namespace {

using hypotheses::Answer;
using hypotheses::Question;
using hypotheses::Verdict;

bool observes(const ExperimentRecord& record, const hypotheses::MetricKey& key) {
  return std::any_of(record.runs.begin(), record.runs.end(), [&](const hypotheses::Run& run) {
    return std::any_of(run.observations.begin(), run.observations.end(),
                       [&](const auto& observation) { return observation.key == key; });
  });
}

// What the runs say of the guard, as if they had been made for it.
Outcome judge_guard_by(const State& state, const NightRecord& night, const ExperimentRecord& seen,
                       const Needed& guard) {
  ExperimentRecord record = seen;
  record.experiment.question = Question::guards;
  record.experiment.key = guard.key;
  record.experiment.min_gain.reset();
  return judge(record, *night.manifest, rule_for(state, night, record.experiment));
}

bool is_open(const Needed& needed, const std::vector<Answer>& answers) {
  return needed.question == Question::guards && answer_to(needed, answers) == nullptr;
}

}  // namespace

Decision answer_from_same_runs(const State& state, const NightRecord& night, const Asker& asker,
                               const std::vector<Needed>& needed) {
  const auto& answers = asker.merge != nullptr ? asker.merge->answers : asker.hypothesis->answers;
  Decision decision;
  for (const Needed& guard : needed) {
    if (!is_open(guard, answers)) continue;
    for (const Answer& earlier : answers) {
      auto found = state.experiments.find(earlier.experiment);
      if (found == state.experiments.end() || earlier.question == Question::guards) continue;
      if (!observes(found->second, guard.key)) continue;
      Outcome outcome = judge_guard_by(state, night, found->second, guard);
      auto* answer = std::get_if<Answer>(&outcome);
      if (answer == nullptr) continue;
      if (answer->verdict != Verdict::supported && answer->verdict != Verdict::refuted) continue;
      answer->reason += ", in the runs of " + earlier.experiment.text();
      record_answer(decision, asker, std::move(*answer));
      return decision;
    }
  }
  return decision;
}

bool guards_want_more(const State& state, const NightRecord& night,
                      const ExperimentRecord& record) {
  const auto& experiment = record.experiment;
  if (record.attempts >= experiment.max_attempts) return false;
  const bool is_merge = bool(experiment.merge);
  const auto* merge = is_merge ? &state.merges.at(experiment.merge) : nullptr;
  const auto& owner = state.hypotheses.at(is_merge ? merge->hypothesis : experiment.hypothesis);
  const auto& answers = is_merge ? merge->answers : owner.answers;
  auto needed = needed_questions(owner, *night.manifest, campaign_of(state, night).policy);
  return std::any_of(needed.begin(), needed.end(), [&](const Needed& guard) {
    if (!is_open(guard, answers) || !observes(record, guard.key)) return false;
    return std::holds_alternative<NextAttempt>(judge_guard_by(state, night, record, guard));
  });
}

}  // namespace orchestrator

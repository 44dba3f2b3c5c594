#include "orchestrator/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace orchestrator {

using hypotheses::Answer;
using hypotheses::Question;
using hypotheses::Verdict;

namespace {

bool supported(const std::vector<Answer>& answers, Question question) {
  return std::any_of(answers.begin(), answers.end(), [&](const Answer& answer) {
    return answer.question == question && answer.verdict == Verdict::supported;
  });
}

}  // namespace

void Invariants::add(std::string what) {
  if (told_.insert(what).second) broken_.push_back(std::move(what));
}

void Invariants::check(const State& state) {
  for (const auto& [id, night] : state.nights) check_budget(state, night);
  for (const auto& [id, record] : state.experiments) check_experiment(state, record);
  check_landed(state);
}

// Work in flight counts. A night that has ended measures nothing more but what a person asked for.
void Invariants::check_budget(const State& state, const NightRecord& night) {
  if (night.night.state != hypotheses::NightState::running) return;
  const auto& budget = campaign_of(state, night).policy.budget;
  policies::Spend spend = spend_of(state, night);
  std::string id = night.night.id.text();
  if (budget.experiments > 0 && spend.experiments > budget.experiments) {
    add(fmt::format("{} has {} experiments of {}", id, spend.experiments, budget.experiments));
  }
  if (budget.tokens > 0 && spend.tokens > budget.tokens) {
    add(fmt::format("{} has committed {} tokens of {}", id, spend.tokens, budget.tokens));
  }
  double machine_s = spend.machine_s + spend.in_flight_s;
  if (budget.machine_s > 0 && machine_s > budget.machine_s + surprise_s + 1e-6) {
    add(fmt::format("{} has committed {} machine-seconds of {}", id, machine_s, budget.machine_s));
  }
}

// The cheap questions gate the dear ones, and what is recorded is recorded once.
void Invariants::check_experiment(const State& state, const ExperimentRecord& record) {
  const auto& experiment = record.experiment;
  std::string id = experiment.id.text();
  std::set<std::tuple<int, hypotheses::Side, bool>> seen;
  for (const auto& run : record.runs) {
    if (!seen.insert({run.attempt, run.side, run.measured}).second) {
      add(fmt::format("{} holds attempt {} of {} twice", id, run.attempt, to_text(run.side)));
    }
  }
  bool gated = experiment.question != Question::builds && experiment.hypothesis;
  if (!gated) return;
  const auto& answers = state.hypotheses.at(experiment.hypothesis).answers;
  if (!supported(answers, Question::builds)) add(id + " was started before its candidate built");
  if (experiment.question != Question::correct && !supported(answers, Question::correct)) {
    add(id + " measures what is not known to be correct");
  }
}

// The base branch holds nothing of ours but what was measured and approved, commit for commit.
void Invariants::check_landed(const State& state) {
  for (const auto& [id, merge] : state.merges) {
    bool landed = std::count(target_.history().begin(), target_.history().end(), merge.merged) > 0;
    if (!merge.merged || !landed) continue;
    if (merge.approved_commit != merge.merged) {
      add(fmt::format("{} landed as {}, approved was {}", id.text(), merge.merged.brief(),
                      merge.approved_commit.brief()));
    }
    if (!supported(merge.answers, Question::own_metric)) add(id.text() + " landed unmeasured");
  }
}

void Invariants::check_end(const State& state) {
  check(state);
  for (const auto& [id, effect] : state.pending) add(id.text() + " is still pending");
  for (const auto& [id, record] : state.experiments) {
    if (record.experiment.state == hypotheses::ExperimentState::running) {
      add(id.text() + " is still running");
    }
  }
  for (const auto& [id, night] : state.nights) {
    if (night.night.state == hypotheses::NightState::running) add(id.text() + " never ended");
  }
  for (const auto& [id, merge] : state.merges) {
    bool between = merge.state == hypotheses::MergeState::preparing ||
                   merge.state == hypotheses::MergeState::measuring ||
                   merge.state == hypotheses::MergeState::approved;
    if (between) add(fmt::format("{} is left {}", id.text(), to_text(merge.state)));
  }
  for (const auto& [id, hypothesis] : state.hypotheses) {
    bool between = hypothesis.state == hypotheses::HypothesisState::preparing ||
                   hypothesis.state == hypotheses::HypothesisState::testing;
    if (between) add(fmt::format("{} is left {}", id.text(), to_text(hypothesis.state)));
  }
}

}  // namespace orchestrator

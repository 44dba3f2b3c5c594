#include "orchestrator/experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/rng.h"
#include "orchestrator/broken_rule.h"
#include "orchestrator/same_runs.h"
#include "orchestrator/timelines.h"
#include "policies/evidence.h"
#include "policies/order.h"
#include "policies/reach.h"

namespace orchestrator {

using hypotheses::Answer;
using hypotheses::Experiment;
using hypotheses::Question;
using hypotheses::Side;
using hypotheses::Verdict;

namespace {

constexpr double kUnknownRun_s = 0.5;                    // of a metric that no probe emits
constexpr double kReserveMargin = 1.5;                   // what is learned of costs is an average
constexpr int kConfirmationPairs = 14, kGuardPairs = 8;  // what a merge is expected to take

Answer unanswerable(const Needed& needed, std::string reason) {
  Answer answer{needed.question, Verdict::inconclusive, std::move(reason), {}, {}};
  answer.evidence.emplace();
  answer.evidence->key = needed.key;
  return answer;
}

int attempts_for(Question question, const policies::EvidenceRule& rule) {
  // One-sided questions take the candidate, once more where a signal ended it, and the base.
  bool one_sided = question == Question::builds || question == Question::correct;
  return one_sided ? 3 : rule.max_pairs;
}

Experiment make_experiment(const State& state, const NightRecord& night, const Asker& asker,
                           const Needed& needed, const policies::Choice& choice) {
  const auto& policy = campaign_of(state, night).policy;
  Experiment experiment;
  experiment.id = {state.next_experiment};
  experiment.campaign = night.night.campaign;
  experiment.night = night.night.id;
  experiment.question = needed.question;
  experiment.probe = choice.chosen->probe;
  experiment.key = needed.key;
  experiment.seed = base::seed_from(night.night.seed, experiment.id.text());
  experiment.estimate_s = choice.chosen->cost_s;
  experiment.max_attempts = attempts_for(needed.question, policy.evidence);
  experiment.why = choice.reason;
  experiment.alternatives = choice.alternatives;
  if (asker.merge != nullptr) {
    experiment.merge = asker.merge->id;
    experiment.fresh_build = true;
    experiment.base = asker.merge->base;
    experiment.candidate = asker.merge->merged;
  } else {
    experiment.hypothesis = asker.hypothesis->id;
    experiment.base = asker.hypothesis->base;
    experiment.candidate = asker.hypothesis->candidate;
  }
  return experiment;
}

std::vector<Side> first_sides(const Experiment& experiment) {
  bool one_sided =
      experiment.question == Question::builds || experiment.question == Question::correct;
  return one_sided ? std::vector{Side::candidate} : coin_order(experiment.seed, 0);
}

bool builds_answered(const std::vector<Answer>& answers) {
  return std::any_of(answers.begin(), answers.end(),
                     [](const Answer& a) { return a.question == Question::builds; });
}

double run_s(const NightRecord& night, const std::string& probe) {
  auto found = night.manifest->probes.find(probe);
  if (found == night.manifest->probes.end()) return kUnknownRun_s;
  return policies::expected_run_s(found->second, night.learned);
}

// The cap, or what is left of the night's machine-seconds where that is less.
int affordable_pairs(const State& state, const NightRecord& night, const std::string& probe) {
  const auto& policy = campaign_of(state, night).policy;
  const double left = policies::remaining_machine_s(policy.budget, spend_of(state, night));
  const double pairs = left / std::max(1e-9, 2 * run_s(night, probe));
  return pairs < policy.evidence.max_pairs ? std::max(1, static_cast<int>(pairs))
                                           : policy.evidence.max_pairs;
}

bool is_about_gain(const Experiment& experiment) {
  return (experiment.hypothesis || experiment.merge) &&
         (experiment.question == Question::own_metric ||
          experiment.question == Question::carries_over);
}

void finish(Decision& decision, const State& state, const NightRecord& night,
            const ExperimentRecord& record, Answer answer) {
  const Experiment& experiment = record.experiment;
  bool is_noise = !experiment.hypothesis && !experiment.merge;
  if (is_noise && answer.verdict == Verdict::no_difference && answer.evidence) {
    std::string machine = record.runs.empty() ? "" : record.runs.back().machine.machine;
    decision.facts.push_back(hypotheses::NoiseMeasured{
        night.night.id, experiment.probe, experiment.key, std::move(machine),
        answer.evidence->noise, answer.evidence->pairs});
  }
  if (is_timeline(*night.manifest, experiment))
    decision.facts.push_back(timeline_read(record, answer));
  decision.facts.push_back(
      hypotheses::ExperimentFinished{experiment.id, answer, experiment.cost_s});
  Asker asker;
  if (experiment.hypothesis) asker.hypothesis = &state.hypotheses.at(experiment.hypothesis);
  if (experiment.merge) asker.merge = &state.merges.at(experiment.merge);
  record_answer(decision, asker, std::move(answer));
}

}  // namespace

void record_answer(Decision& decision, const Asker& asker, Answer answer) {
  if (asker.merge != nullptr) {
    decision.facts.push_back(hypotheses::MergeAnswered{asker.merge->id, std::move(answer)});
  } else if (asker.hypothesis != nullptr) {
    decision.facts.push_back(hypotheses::QuestionAnswered{asker.hypothesis->id, std::move(answer)});
  }
}

JudgeRule rule_for(const State& state, const NightRecord& night, const Experiment& experiment) {
  const auto& policy = campaign_of(state, night).policy;
  JudgeRule rule;
  rule.evidence = policy.evidence;
  rule.is_noise = !experiment.hypothesis && !experiment.merge;
  rule.machine.copy_rate = night.night.copy_rate.value_or(0);
  rule.affordable_pairs = affordable_pairs(state, night, experiment.probe);
  const std::string key = to_text(experiment.key);
  for (const auto* noises : {&night.learned.seen_noise, &night.learned.noise}) {
    auto noise = noises->find(key);
    if (noise != noises->end()) rule.noise = noise->second;
  }
  if (broken(Rule::giving_up_knows_the_noise)) rule.noise = 1e-9;
  rule.going_on.pair_s = 2 * run_s(night, experiment.probe);
  if (!night.manifest->build.empty()) {
    rule.going_on.ample_s = policies::expected_build_s(experiment.fresh_build, night.learned);
  }
  if (experiment.min_gain) {
    rule.evidence = policies::rule_for_gain(policy.evidence, *experiment.min_gain);
  }
  hypotheses::HypothesisId owner = experiment.hypothesis;
  if (experiment.merge) {
    owner = state.merges.at(experiment.merge).hypothesis;
    if (experiment.question == Question::own_metric && !broken(Rule::confirmed_at_its_level)) {
      rule.level = state.hypotheses.at(owner).merge_level;
    }
  }
  if (experiment.question == Question::guards && owner) {
    for (const Needed& needed :
         needed_questions(state.hypotheses.at(owner), *night.manifest, policy)) {
      if (needed.question == Question::guards && needed.key == experiment.key) {
        rule.guard_margin = needed.margin;
      }
    }
  }
  return rule;
}

double merge_reserve_s(const State& state, const NightRecord& night) {
  if (!night.incumbent) return 0;
  for (auto id : night.merges) {
    if (state.merges.at(id).hypothesis == night.incumbent) return 0;  // it runs on its own estimate
  }
  const auto& policy = campaign_of(state, night).policy;
  const auto& incumbent = state.hypotheses.at(night.incumbent);
  double reserve = 2 * policies::expected_build_s(true, night.learned);
  for (const Needed& needed : needed_questions(incumbent, *night.manifest, policy)) {
    const auto* probe = probe_of_metric(*night.manifest, needed.key.metric);
    double one = probe == nullptr ? kUnknownRun_s : run_s(night, probe->name);
    if (needed.question == Question::guards) reserve += 2 * kGuardPairs * one;
    if (needed.question == Question::own_metric) reserve += 2 * kConfirmationPairs * one;
    if (needed.question == Question::carries_over) reserve += 2 * kConfirmationPairs * one;
    if (needed.question == Question::correct) reserve += one;
  }
  return kReserveMargin * reserve;
}

std::optional<std::string> no_budget(const State& state, const NightRecord& night,
                                     double estimate_s, double reserve_s, base::Instant now,
                                     bool counted) {
  if (night.night.state != hypotheses::NightState::running) return {};  // a person asked for it
  if (broken(Rule::budget_is_asked)) return {};
  hypotheses::Budget budget = campaign_of(state, night).policy.budget;
  if (counted) budget.experiments = 0;
  if (budget.wall_s > 0) budget.wall_s = std::max(1e-9, budget.wall_s - reserve_s);
  if (budget.machine_s > 0) budget.machine_s = std::max(1e-9, budget.machine_s - reserve_s);
  return policies::over_budget(budget, spend_of(state, night), estimate_s, night.night.started,
                               now);
}

Decision ask(const State& state, const NightRecord& night, const Asker& asker,
             const NextQuestion& next, base::Instant now) {
  const Needed& needed = next.needed;
  const auto& policy = campaign_of(state, night).policy;
  const auto& answers = asker.merge != nullptr ? asker.merge->answers : asker.hypothesis->answers;
  auto open = open_question(needed, *asker.hypothesis, *night.manifest, night.shares,
                            builds_answered(answers));
  Decision decision;
  std::optional<double> min_gain;
  if (needed.question == Question::own_metric) {
    if (asker.merge != nullptr) {
      open.level = asker.hypothesis->merge_level;
    } else {
      OwnGain gain = needed_own_gain(*asker.hypothesis, *night.manifest, night.shares, policy);
      if (!gain.within_reach) {
        record_answer(decision, asker, unanswerable(needed, gain.reason));
        return decision;
      }
      min_gain = gain.min_gain;
      open.min_gain = min_gain.value_or(0);
    }
  }
  double remaining = policies::remaining_machine_s(policy.budget, spend_of(state, night));
  if (night.night.state != hypotheses::NightState::running) {
    remaining = std::numeric_limits<double>::max();
  }
  auto choice =
      policies::choose_experiment(open, *night.manifest, night.learned, policy, remaining);
  for (const auto& other : choice.alternatives) {
    if (broken(Rule::cheapest_first) && other.can_answer) choice.chosen = other;
  }
  if (!choice.chosen) {
    record_answer(decision, asker, unanswerable(needed, choice.reason));
    return decision;
  }
  double reserve = asker.merge != nullptr ? 0 : merge_reserve_s(state, night);
  if (auto why_not = no_budget(state, night, choice.chosen->cost_s, reserve, now)) {
    record_answer(decision, asker, unanswerable(needed, *why_not));
    return decision;
  }
  Experiment experiment = make_experiment(state, night, asker, needed, choice);
  experiment.min_gain = min_gain;
  if (!next.why.empty()) experiment.why += "; " + next.why;
  decision.effects.push_back(RunAttempt{experiment.id, 0, first_sides(experiment)});
  decision.facts.push_back(hypotheses::ExperimentStarted{std::move(experiment)});
  return decision;
}

Decision ask_noise(const State& state, const NightRecord& night, base::Instant now) {
  const auto& policy = campaign_of(state, night).policy;
  Experiment experiment;
  experiment.id = {state.next_experiment};
  experiment.campaign = night.night.campaign;
  experiment.night = night.night.id;
  experiment.question = Question::own_metric;
  experiment.key = complete_key(*night.manifest, night.manifest->goal);
  const auto* probe = probe_of_metric(*night.manifest, experiment.key.metric);
  experiment.probe = probe->name;
  experiment.base = experiment.candidate = night.night.base;
  experiment.seed = base::seed_from(night.night.seed, experiment.id.text());
  // Whether an exact counter repeats shows in one pair.
  const bool exact = probe->metrics.at(experiment.key.metric).exact;
  experiment.max_attempts = exact ? 1 : policy.evidence.noise_pairs;
  experiment.estimate_s =
      (night.learned.build_warm.known() ? 0 : policies::expected_build_s(false, night.learned)) +
      2 * experiment.max_attempts * run_s(night, probe->name);
  experiment.why = fmt::format(
      "A/A: the same commit as both sides, {} {}, to learn how far {} differs from itself on "
      "this machine before anything is believed",
      experiment.max_attempts, exact ? "pair" : "pairs", to_text(experiment.key));
  Decision decision;
  if (no_budget(state, night, experiment.estimate_s, 0, now)) return decision;
  decision.effects.push_back(RunAttempt{experiment.id, 0, first_sides(experiment)});
  decision.facts.push_back(hypotheses::ExperimentStarted{std::move(experiment)});
  return decision;
}

Decision go_on(const State& state, const NightRecord& night, const ExperimentRecord& record,
               base::Instant now) {
  Decision decision;
  Outcome outcome = judge(record, *night.manifest, rule_for(state, night, record.experiment));
  const auto* answer = std::get_if<Answer>(&outcome);
  const bool is_gain = answer != nullptr && answer->verdict == Verdict::supported &&
                       is_about_gain(record.experiment);
  if (answer != nullptr && !(is_gain && guards_want_more(state, night, record))) {
    finish(decision, state, night, record, *answer);
    return decision;
  }
  // The estimate is reserved; only what an attempt takes beyond it needs budget that may be gone.
  double after = record.experiment.cost_s + 2 * run_s(night, record.experiment.probe);
  double beyond = std::max(0.0, after - record.experiment.estimate_s);
  // What is kept back for the winner's merge is not spent on the search either.
  double reserve = record.experiment.hypothesis ? merge_reserve_s(state, night) : 0;
  if (auto why_not = no_budget(state, night, beyond, reserve, now, true)) {
    Answer none{
        record.experiment.question, Verdict::inconclusive, *why_not, {}, record.experiment.id};
    none.evidence.emplace();
    none.evidence->key = record.experiment.key;
    finish(decision, state, night, record, answer != nullptr ? *answer : none);
    return decision;
  }
  auto sides = answer != nullptr ? coin_order(record.experiment.seed, record.attempts)
                                 : std::get<NextAttempt>(outcome).sides;
  decision.effects.push_back(RunAttempt{record.experiment.id, record.attempts, std::move(sides)});
  return decision;
}

// What the runs of `other` tell as well: the same launch, of another metric.
static bool rides_along(const policies::Choice& guard, const policies::Choice& other) {
  return guard.chosen && other.chosen && guard.chosen->probe == other.chosen->probe &&
         guard.chosen->key.conditions == other.chosen->key.conditions;
}

std::optional<NextQuestion> next_question(const std::vector<Needed>& needed,
                                          const std::vector<Answer>& answers,
                                          const hypotheses::Hypothesis& hypothesis,
                                          const NightRecord& night, const policies::Policy& policy,
                                          double remaining_s) {
  struct Open {
    Needed needed;
    policies::Choice choice;
    double p_refuting;
  };
  std::vector<Open> all;
  for (const Needed& question : needed) {
    if (answer_to(question, answers) != nullptr) continue;
    auto asked = open_question(question, hypothesis, *night.manifest, night.shares, true);
    auto choice =
        policies::choose_experiment(asked, *night.manifest, night.learned, policy, remaining_s);
    double p_refuting =
        policies::p_refuting(night.learned.track, asked.lineage, question.question).mean();
    all.push_back({question, std::move(choice), p_refuting});
  }
  std::vector<Needed> open;
  std::vector<policies::PricedQuestion> priced;
  for (const Open& one : all) {
    // A guard that the runs of a gain tell as well waits for those (same_runs.h).
    if (one.needed.question == Question::guards &&
        std::any_of(all.begin(), all.end(), [&](const Open& other) {
          return other.needed.question != Question::guards && rides_along(one.choice, other.choice);
        })) {
      continue;
    }
    const double cost_s = one.choice.chosen ? one.choice.chosen->cost_s : 0;
    priced.push_back({one.needed.question, cost_s, one.p_refuting});
    open.push_back(one.needed);
  }
  if (open.empty()) return {};
  auto order = policies::order_questions(priced);
  bool choice = order.size() > 1 && order[1].allowed;
  return NextQuestion{open[order.front().index], choice ? policies::why_next(priced, order) : ""};
}

}  // namespace orchestrator

// What a night does next. The rules, in this order; the first that applies is the decision:
//  1. While an effect of the night is in flight, wait.
//  2. A running experiment goes on: it is judged, and answered or repeated.
//  3. A merge under measurement has its next question asked, or is settled.
//     (A night that has ended does nothing but this.)
//  4. A machine that differs from itself ends the night.
//  5. Noise on the goal metric is measured before anything is believed.
//  6. Each timeline of the base is run, once.
//  7. A hypothesis under test has its next question answered from runs that it has, or asked, or is
//     decided.
//  8. The best hypothesis of the queue is taken up.
//  9. The planner takes a turn.
// 10. The incumbent, once the planner has no more to propose, becomes a merge request.
// 11. The night ends.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "orchestrator/broken_rule.h"
#include "orchestrator/decide.h"
#include "orchestrator/experiments.h"
#include "orchestrator/planning.h"
#include "orchestrator/same_runs.h"
#include "orchestrator/timelines.h"

namespace orchestrator {

using hypotheses::Hypothesis;
using hypotheses::HypothesisId;
using hypotheses::HypothesisState;
using hypotheses::MergeRequest;
using hypotheses::MergeState;
using hypotheses::NightState;
using hypotheses::Verdict;

namespace {

struct NightOf {
  const State& state;
  hypotheses::NightId operator()(const OpenNight&) const { return {}; }
  hypotheses::NightId operator()(const MakeCandidate& e) const {
    return state.hypotheses.at(e.hypothesis).night;
  }
  hypotheses::NightId operator()(const RunAttempt& e) const {
    return state.experiments.at(e.experiment).experiment.night;
  }
  hypotheses::NightId operator()(const StopExperiment&) const { return {}; }
  hypotheses::NightId operator()(const PrepareMerge& e) const {
    return state.merges.at(e.merge).night;
  }
  hypotheses::NightId operator()(const LandMerge&) const { return {}; }
  hypotheses::NightId operator()(const AskPlanner& e) const { return e.night; }
  // A night does not wait for the network.
  hypotheses::NightId operator()(const FetchTarget&) const { return {}; }
};

bool effect_in_flight(const State& state, hypotheses::NightId night) {
  return std::any_of(state.pending.begin(), state.pending.end(), [&](const auto& entry) {
    return std::visit(NightOf{state}, entry.second.kind) == night;
  });
}

const ExperimentRecord* running_experiment(const State& state, const NightRecord& night) {
  return night.running.empty() ? nullptr : &state.experiments.at(*night.running.rbegin());
}

const MergeRequest* merge_in(const State& state, const NightRecord& night, MergeState wanted) {
  for (auto id : night.merges) {
    const MergeRequest& merge = state.merges.at(id);
    if (merge.state == wanted) return &merge;
  }
  return nullptr;
}

bool needs_noise(const NightRecord& night, const policies::Policy& policy) {
  const hypotheses::Metric* metric = night.manifest->metric(night.manifest->goal.metric);
  if (metric == nullptr || policy.evidence.noise_pairs == 0) return false;
  auto key = complete_key(*night.manifest, night.manifest->goal);
  return night.measured_noise.count(to_text(key)) == 0;
}

Decision end_night(const State& state, const NightRecord& night, std::string reason,
                   base::Instant now) {
  Decision decision;
  for (HypothesisId id : campaign_of(state, night).open) {
    const Hypothesis& hypothesis = state.hypotheses.at(id);
    if (hypothesis.night != night.night.id || hypothesis.state == HypothesisState::queued) continue;
    decision.facts.push_back(hypotheses::HypothesisDecided{
        id, Verdict::inconclusive, "the night ended first: " + reason, hypothesis.evidence});
  }
  decision.facts.push_back(hypotheses::NightEnded{night.night.id, now, std::move(reason)});
  return decision;
}

const Hypothesis* under_test(const State& state, const NightRecord& night) {
  if (!night.taken) return nullptr;
  const Hypothesis& hypothesis = state.hypotheses.at(night.taken);
  return hypothesis.state == HypothesisState::testing ? &hypothesis : nullptr;
}

Decision advance_hypothesis(const State& state, const NightRecord& night,
                            const Hypothesis& hypothesis, base::Instant now) {
  const auto& policy = campaign_of(state, night).policy;
  auto needed = needed_questions(hypothesis, *night.manifest, policy);
  // An answer that refutes makes the rest superfluous; so does the last one.
  std::vector<Needed> asked;
  for (const Needed& question : needed) {
    const auto* answer = answer_to(question, hypothesis.answers);
    if (answer != nullptr && answer->verdict != Verdict::supported) asked = {question};
  }
  if (auto settled = settle(asked.empty() ? needed : asked, hypothesis.answers)) {
    Decision decision;
    decision.facts.push_back(hypotheses::HypothesisDecided{hypothesis.id, settled->verdict,
                                                           settled->reason, settled->evidence});
    if (settled->verdict == Verdict::supported && !hypothesis.change.empty()) {
      decision.facts.push_back(hypotheses::IncumbentChosen{night.night.id, hypothesis.id});
    }
    return decision;
  }
  Decision known = answer_from_same_runs(state, night, {&hypothesis, nullptr}, needed);
  if (!known.empty()) return known;
  double remaining = policies::remaining_machine_s(policy.budget, spend_of(state, night));
  auto next = next_question(needed, hypothesis.answers, hypothesis, night, policy, remaining);
  return ask(state, night, {&hypothesis, nullptr}, *next, now);
}

Decision take_up(const State& state, const NightRecord& night, const NextUp& next) {
  const Hypothesis& hypothesis = state.hypotheses.at(next.hypothesis);
  // A pushed branch stands on a base of its own; all else builds on the incumbent.
  bool own_commit = !hypothesis.change.branch.empty();
  HypothesisId parent = own_commit ? HypothesisId{} : night.incumbent;
  hypotheses::CommitId base = parent && !hypothesis.change.empty()
                                  ? state.hypotheses.at(parent).candidate
                                  : night.night.base;
  Decision decision;
  decision.facts.push_back(
      hypotheses::HypothesisTaken{hypothesis.id, night.night.id, parent, base, next.why});
  decision.effects.push_back(MakeCandidate{hypothesis.id});
  return decision;
}

bool has_merge(const State& state, const NightRecord& night, HypothesisId hypothesis) {
  return std::any_of(night.merges.begin(), night.merges.end(),
                     [&](auto id) { return state.merges.at(id).hypothesis == hypothesis; });
}

bool engine_evidence(const State& state, const NightRecord& night, const Hypothesis& winner) {
  (void)state;
  for (const auto& answer : winner.answers) {
    if (!answer.evidence || answer.verdict != Verdict::supported) continue;
    const auto* probe = probe_of_metric(*night.manifest, answer.evidence->key.metric);
    bool gain = answer.question == hypotheses::Question::own_metric ||
                answer.question == hypotheses::Question::carries_over;
    if (gain && probe != nullptr && probe->layer == hypotheses::Layer::engine) return true;
  }
  return false;
}

Decision open_merge(const State& state, const NightRecord& night, const Hypothesis& winner) {
  MergeRequest merge;
  merge.id = {state.next_merge};
  merge.campaign = night.night.campaign;
  merge.night = night.night.id;
  merge.hypothesis = winner.id;
  merge.candidate = winner.candidate;
  Decision decision;
  decision.effects.push_back(PrepareMerge{merge.id});
  decision.facts.push_back(hypotheses::MergeOpened{std::move(merge)});
  return decision;
}

// Less than a build and a few pairs is not worth a new hypothesis.
double smallest_step_s(const NightRecord& night) {
  if (!night.learned.build_warm.known()) return 1;
  return std::max(policies::expected_build_s(false, night.learned), 1.0);
}

// Why the planner gets no further turn; empty when it does.
std::string no_more_turns(const State& state, const NightRecord& night, base::Instant now) {
  const auto& policy = campaign_of(state, night).policy;
  if (!night.planner_stopped.empty()) return night.planner_stopped;
  if (night.turns >= policy.planner.max_turns) return "the planner has had its turns";
  int opened = static_cast<int>(night.hypotheses.size());
  if (policy.max_hypotheses > 0 && opened >= policy.max_hypotheses) {
    return "the night has had its number of hypotheses";
  }
  auto why_not =
      no_budget(state, night, smallest_step_s(night), merge_reserve_s(state, night), now);
  return why_not.value_or("");
}

Decision wind_up(const State& state, const NightRecord& night, const std::string& reason,
                 base::Instant now) {
  if (broken(Rule::night_ends)) return {};
  if (night.incumbent && !has_merge(state, night, night.incumbent)) {
    const Hypothesis& winner = state.hypotheses.at(night.incumbent);
    const auto& policy = campaign_of(state, night).policy;
    if (policy.merge.on_kernel_evidence || engine_evidence(state, night, winner)) {
      return open_merge(state, night, winner);
    }
    return end_night(state, night,
                     reason + "; " + winner.id.text() +
                         " is supported on kernel evidence alone, which this policy does not merge "
                         "(merge.on_kernel_evidence)",
                     now);
  }
  return end_night(state, night, reason, now);
}

}  // namespace

Decision advance_merge(const State& state, const NightRecord& night, const MergeRequest& merge) {
  const Hypothesis& winner = state.hypotheses.at(merge.hypothesis);
  const auto& policy = campaign_of(state, night).policy;
  auto needed = needed_questions(winner, *night.manifest, policy);
  std::vector<Needed> failed;
  for (const Needed& question : needed) {
    const auto* answer = answer_to(question, merge.answers);
    if (answer != nullptr && answer->verdict != Verdict::supported) failed = {question};
  }
  Decision decision;
  auto settled = settle(failed.empty() ? needed : failed, merge.answers);
  if (!settled) return decision;
  hypotheses::MergeChanged change;
  change.merge = merge.id;
  change.known = known_text(merge, state);
  change.unknown = unknown_text(winner, *night.manifest);
  bool confirmed = settled->verdict == Verdict::supported;
  change.state = confirmed ? MergeState::waiting : MergeState::failed;
  change.reason = confirmed ? settled->reason
                            : "not confirmed (" + std::string(to_text(settled->verdict)) +
                                  "): " + settled->reason;
  decision.facts.push_back(std::move(change));
  if (confirmed && broken(Rule::landing_needs_approval)) {
    decision.effects.push_back(LandMerge{merge.id});
  }
  bool running = night.night.state == NightState::running;
  if (!confirmed && running && night.incumbent == winner.id) {
    decision.facts.push_back(hypotheses::IncumbentChosen{night.night.id, winner.parent});
  }
  return decision;
}

Decision advance_night(const State& state, const NightRecord& night, base::Instant now) {
  if (effect_in_flight(state, night.night.id)) return {};
  if (const auto* record = running_experiment(state, night)) {
    return go_on(state, night, *record, now);
  }
  const auto& policy = campaign_of(state, night).policy;
  if (const auto* merge = merge_in(state, night, MergeState::measuring)) {
    Decision settled = advance_merge(state, night, *merge);
    if (!settled.empty()) return settled;
    const Hypothesis& winner = state.hypotheses.at(merge->hypothesis);
    auto needed = needed_questions(winner, *night.manifest, policy);
    Decision known = answer_from_same_runs(state, night, {&winner, merge}, needed);
    if (!known.empty()) return known;
    auto next = next_question(needed, merge->answers, winner, night, policy,
                              policies::remaining_machine_s(policy.budget, spend_of(state, night)));
    return ask(state, night, {&winner, merge}, *next, now);
  }
  if (night.night.state != NightState::running) return {};
  if (!night.machine_trouble.empty()) {
    return end_night(state, night, "the machine is not fit to measure: " + night.machine_trouble,
                     now);
  }
  if (needs_noise(night, policy)) {
    Decision noise = ask_noise(state, night, now);
    if (!noise.empty()) return noise;
    return end_night(state, night, "the budget does not even pay for the A/A measurement", now);
  }
  Decision timeline = ask_timeline(state, night, now);
  if (!timeline.empty()) return timeline;
  if (const auto* hypothesis = under_test(state, night)) {
    return advance_hypothesis(state, night, *hypothesis, now);
  }
  std::string no_more = no_more_turns(state, night, now);
  bool budget_left =
      !no_budget(state, night, smallest_step_s(night), merge_reserve_s(state, night), now);
  if (budget_left) {
    if (auto next = next_up(state, night)) return take_up(state, night, *next);
  }
  if (no_more.empty()) return take_turn(state, night, now);
  return wind_up(state, night, no_more, now);
}

}  // namespace orchestrator

// What became of the effects. A completion whose effect is no longer pending changes nothing.
#include <fmt/format.h>

#include <cmath>

#include "orchestrator/broken_rule.h"
#include "orchestrator/decide.h"
#include "orchestrator/planning.h"
#include "orchestrator/pushed.h"

namespace orchestrator {

using base::ErrorCode;
using hypotheses::MergeState;
using hypotheses::Verdict;

namespace {

hypotheses::MergeChanged merge_change(hypotheses::MergeRequestId id, MergeState state,
                                      std::string reason) {
  hypotheses::MergeChanged change;
  change.merge = id;
  change.state = state;
  change.reason = std::move(reason);
  return change;
}

// A value that is not finite is no value: it leaves the run, which then says so.
void refuse_non_finite(hypotheses::Run& run) {
  auto& all = run.observations;
  for (const auto& observation : all) {
    if (std::isfinite(observation.value)) continue;
    run.outcome = hypotheses::RunOutcome::bad_output;
    run.detail = to_text(observation.key) + " is not finite";
  }
  std::erase_if(all, [](const auto& observation) { return !std::isfinite(observation.value); });
}

// One effect and its completion, by kind. An impossible pair is a bug of the performer.
struct Complete {
  const State& state;
  base::Instant now;
  Decision& decision;

  void operator()(const OpenNight& effect, const NightOpened& opened) const {
    const CampaignRecord& record = state.campaigns.at(effect.campaign);
    hypotheses::Night night;
    night.id = {state.next_night};
    night.campaign = effect.campaign;
    night.started = now;
    double wall_s = record.policy.budget.wall_s;
    night.deadline = wall_s > 0 ? now.plus_s(wall_s) : base::Instant{};
    night.base = opened.base;
    night.manifest = opened.manifest;
    night.settings = opened.settings;
    night.copy_rate = opened.copy_rate;
    night.seed = record.campaign.seed + record.nights.size();
    auto manifest =
        hypotheses::read_manifest(opened.manifest, opened.base.brief() + ":nightshift.yaml");
    if (!manifest) {
      note(effect.campaign, "the night did not start: " + manifest.error().text());
      return;
    }
    std::string goal =
        record.campaign.goal.metric.empty() ? manifest->goal.metric : record.campaign.goal.metric;
    if (manifest->metric(goal) == nullptr) {
      note(effect.campaign, "the night did not start: no probe of the manifest emits the goal " +
                                goal + "; choose another goal or add a probe");
      return;
    }
    decision.facts.push_back(hypotheses::NightStarted{std::move(night)});
    for (const std::string& lack : opened.lacks) note(effect.campaign, lack);
    read_branches(decision, state, record, opened.branches, now);
  }
  void operator()(const OpenNight& effect, const EffectFailed& failed) const {
    note(effect.campaign, "the night did not start: " + failed.error.text());
  }

  void operator()(const MakeCandidate& effect, const CandidateReady& ready) const {
    decision.facts.push_back(
        hypotheses::CandidateMade{effect.hypothesis, ready.commit, ready.branch, ready.paths});
  }
  void operator()(const MakeCandidate& effect, const EffectFailed& failed) const {
    decision.facts.push_back(hypotheses::HypothesisDecided{
        effect.hypothesis, Verdict::invalid, failed.error.text(), {}});
  }

  void operator()(const RunAttempt& effect, const AttemptDone& done) const {
    if (done.runs.empty()) {  // would be asked for again without end
      (*this)(effect, EffectFailed{{ErrorCode::bug, "an attempt came back without any run", {}}});
      return;
    }
    if (broken(Rule::completion_counts_once)) decision.done.clear();
    std::int64_t next = state.next_run;
    for (hypotheses::Run run : done.runs) {
      run.id = {next++};
      run.experiment = effect.experiment;
      run.attempt = effect.attempt;
      refuse_non_finite(run);
      decision.facts.push_back(hypotheses::RunRecorded{std::move(run)});
    }
  }
  // The attempt could not be made at all: no sandbox, no disk. That is no news about the candidate.
  void operator()(const RunAttempt& effect, const EffectFailed& failed) const {
    const auto& experiment = state.experiments.at(effect.experiment).experiment;
    auto verdict = broken(Rule::machine_failure_is_invalid) ? Verdict::refuted : Verdict::invalid;
    hypotheses::Answer answer{experiment.question, verdict, failed.error.text(), {}, experiment.id};
    answer.evidence.emplace();
    answer.evidence->key = experiment.key;
    decision.facts.push_back(
        hypotheses::ExperimentFinished{experiment.id, answer, experiment.cost_s});
    if (experiment.merge) {
      decision.facts.push_back(hypotheses::MergeAnswered{experiment.merge, answer});
    } else if (experiment.hypothesis) {
      decision.facts.push_back(hypotheses::QuestionAnswered{experiment.hypothesis, answer});
    }
  }

  void operator()(const StopExperiment&, const StopDone&) const {}

  // A merge that was rejected or cancelled meanwhile stays so.
  bool still_preparing(const PrepareMerge& effect) const {
    return state.merges.at(effect.merge).state == MergeState::preparing ||
           broken(Rule::rejected_stays_rejected);
  }
  void operator()(const PrepareMerge& effect, const MergeReady& ready) const {
    if (!still_preparing(effect)) return;
    auto change = merge_change(effect.merge, MergeState::measuring, "");
    change.base = ready.base;
    change.merged = ready.merged;
    decision.facts.push_back(std::move(change));
    if (!broken(Rule::confirmed_on_fresh_pairs)) return;
    for (const auto& answer :
         state.hypotheses.at(state.merges.at(effect.merge).hypothesis).answers) {
      decision.facts.push_back(hypotheses::MergeAnswered{effect.merge, answer});
    }
  }
  void operator()(const PrepareMerge& effect, const MergeConflict& conflict) const {
    if (!still_preparing(effect)) return;
    decision.facts.push_back(merge_change(
        effect.merge, MergeState::failed,
        fmt::format("conflicts with the base in {}", fmt::join(conflict.paths, ", "))));
  }
  void operator()(const PrepareMerge& effect, const EffectFailed& failed) const {
    if (!still_preparing(effect)) return;
    decision.facts.push_back(merge_change(effect.merge, MergeState::failed, failed.error.text()));
  }

  void operator()(const LandMerge& effect, const Landed& landed) const {
    auto change = merge_change(effect.merge, MergeState::landed, landed.instruction);
    change.landed_ref = landed.ref;
    decision.facts.push_back(std::move(change));
  }
  // The approval was for this commit on that base; on another base it has to be measured again.
  void operator()(const LandMerge& effect, const BaseMoved& moved) const {
    const auto& merge = state.merges.at(effect.merge);
    const CampaignRecord& record = state.campaigns.at(merge.campaign);
    int limit = record.policy.merge.max_remeasures;
    std::string what = "the base moved to " + moved.found.brief() + " meanwhile";
    if (record.campaign.state == hypotheses::CampaignState::cancelled) {
      decision.facts.push_back(merge_change(effect.merge, MergeState::failed,
                                            what + ", and the campaign was cancelled"));
      return;
    }
    if (merge.remeasures >= limit) {
      decision.facts.push_back(merge_change(effect.merge, MergeState::failed,
                                            what + ", for the last of the times allowed"));
      return;
    }
    decision.facts.push_back(
        merge_change(effect.merge, MergeState::preparing,
                     what + "; it is merged and measured anew, and then needs a new approval"));
    decision.effects.push_back(PrepareMerge{effect.merge});
  }
  void operator()(const LandMerge& effect, const EffectFailed& failed) const {
    decision.facts.push_back(merge_change(effect.merge, MergeState::waiting,
                                          "could not be landed: " + failed.error.text()));
  }

  void operator()(const FetchTarget& effect, const TargetRead& read) const {
    read_branches(decision, state, state.campaigns.at(effect.campaign), read.branches, now);
  }
  void operator()(const FetchTarget& effect, const EffectFailed& failed) const {
    const std::string trouble = failed.error.text();
    decision.facts.push_back(hypotheses::TargetFetched{effect.campaign, now, {}, trouble});
    if (state.campaigns.at(effect.campaign).fetch_trouble == trouble) return;  // was said
    note(effect.campaign,
         "the target could not be read, the night goes on with what it has: " + trouble);
  }

  void operator()(const AskPlanner& effect, const PlannerAnswered& answered) const {
    const NightRecord& night = state.nights.at(effect.night);
    if (night.night.state != hypotheses::NightState::running) return;
    for (hypotheses::PlannerTurn turn : answered.transcript) {
      turn.campaign = night.night.campaign;
      decision.facts.push_back(hypotheses::PlannerSpoke{std::move(turn)});
    }
    if (answered.step) {
      add_step(decision, state, night, *answered.step, hypotheses::Origin::llm, now);
      return;
    }
    hypotheses::PlannerTurn turn{
        night.night.campaign, effect.night, effect.turn, "llm", 0, "failed", answered.failure};
    decision.facts.push_back(hypotheses::PlannerSpoke{std::move(turn)});
    add_step(decision, state, night, next_step(view_of(state, night)), hypotheses::Origin::builtin,
             now);
  }
  void operator()(const AskPlanner& effect, const EffectFailed& failed) const {
    (*this)(effect, PlannerAnswered{{}, 0, {}, failed.error.text()});
  }

  template <class Kind, class Result>
  void operator()(const Kind&, const Result&) const {
    decision.facts.push_back(
        hypotheses::Noted{{}, {}, "bug: an effect was completed by something of another kind"});
  }

  void note(hypotheses::CampaignId campaign, std::string text) const {
    decision.facts.push_back(hypotheses::Noted{campaign, {}, std::move(text)});
  }
};

}  // namespace

Decision on_completion(const State& state, const Completed& completed, base::Instant now) {
  Decision decision;
  auto found = state.pending.find(completed.effect);
  if (found == state.pending.end()) {
    decision.facts.push_back(hypotheses::Noted{
        {},
        {},
        "late or duplicate completion of " + completed.effect.text() + "; it changes nothing"});
    return decision;
  }
  decision.done.push_back(completed.effect);
  std::visit(Complete{state, now, decision}, found->second.kind, completed.completion);
  return decision;
}

}  // namespace orchestrator

#include "orchestrator/state.h"

#include <algorithm>

#include "hypotheses/transitions.h"
#include "orchestrator/broken_rule.h"
#include "orchestrator/learning.h"
#include "orchestrator/questions.h"

namespace orchestrator {
namespace {

using namespace hypotheses;  // the facts are this file's subject

base::Status corrupt(const std::string& what) {
  return base::fail(base::ErrorCode::corrupt, "the event log does not add up: " + what,
                    "event log");
}

// The entry, or an error that names the missing id.
template <class Map, class Id>
base::Result<typename Map::mapped_type*> find(Map& map, Id id) {
  auto found = map.find(id);
  if (found == map.end()) {
    return base::fail(
        base::ErrorCode::corrupt,
        "the event log does not add up: it names " + id.text() + ", which was never recorded",
        "event log");
  }
  return &found->second;
}

template <class E>
base::Status move_to(E& from, E to, const std::string& what) {
  if (!legal(from, to)) {
    return corrupt(what + " cannot go from " + std::string(to_text(from)) + " to " +
                   std::string(to_text(to)));
  }
  from = to;
  return {};
}

template <class Id>
void advance_id(std::int64_t& next, Id id) {
  next = std::max(next, id.value + 1);
}

// The queue anew, of all that waits.
void fill_queue(const State& state, const CampaignRecord& campaign, NightRecord& night) {
  night.queue = {};
  for (HypothesisId id : campaign.open) {
    const Hypothesis& waiting = state.hypotheses.at(id);
    if (waiting.state != HypothesisState::queued) continue;
    enter(night.queue, waiting, *night.manifest, night.shares, campaign.policy);
  }
}

// Keeps the running night's queue: in it is what waits.
void follow_queue(State& state, const Hypothesis& hypothesis) {
  const CampaignRecord& campaign = state.campaigns.at(hypothesis.campaign);
  if (!campaign.running) return;
  NightRecord& night = state.nights.at(*campaign.running);
  if (hypothesis.state == HypothesisState::queued) {
    enter(night.queue, hypothesis, *night.manifest, night.shares, campaign.policy);
  } else {
    leave(night.queue, hypothesis.id);
  }
}

base::Status on(State& state, const CampaignCreated& fact) {
  CampaignRecord record;
  record.campaign = fact.campaign;
  NS_TRY(complete(record));
  record.last_due = fact.campaign.created;
  advance_id(state.next_campaign, fact.campaign.id);
  state.campaigns.emplace(fact.campaign.id, std::move(record));
  return {};
}

base::Status on(State& state, const CampaignChanged& fact) {
  NS_ASSIGN(record, find(state.campaigns, fact.campaign));
  return move_to(record->campaign.state, fact.state, fact.campaign.text());
}

base::Status on(State& state, const NightDue& fact) {
  NS_ASSIGN(record, find(state.campaigns, fact.campaign));
  record->last_due = std::max(record->last_due, fact.at);
  return {};
}

base::Status on(State& state, const NightStarted& fact) {
  NS_ASSIGN(campaign, find(state.campaigns, fact.night.campaign));
  NightRecord record;
  record.night = fact.night;
  NS_TRY(complete(record, *campaign));
  // What earlier nights learned about costs and noise holds until it is measured anew.
  if (!campaign->nights.empty()) {
    const NightRecord& earlier = state.nights.at(campaign->nights.back());
    record.learned = earlier.learned;
    if (earlier.night.base == fact.night.base) record.shares = earlier.shares;
  }
  fill_queue(state, *campaign, record);
  campaign->running = fact.night.id;
  campaign->nights.push_back(fact.night.id);
  advance_id(state.next_night, fact.night.id);
  state.nights.emplace(fact.night.id, std::move(record));
  return {};
}

base::Status on(State& state, const NightEnded& fact) {
  NS_ASSIGN(record, find(state.nights, fact.night));
  NS_TRY(move_to(record->night.state, NightState::ended, fact.night.text()));
  record->night.ended = fact.at;
  record->night.reason = fact.reason;
  record->queue = {};
  state.campaigns.at(record->night.campaign).running.reset();
  return {};
}

base::Status on(State& state, const IncumbentChosen& fact) {
  NS_ASSIGN(record, find(state.nights, fact.night));
  record->incumbent = fact.hypothesis;
  return {};
}

base::Status on(State& state, const ProposalRefused& fact) {
  if (!fact.night) return {};
  NS_ASSIGN(record, find(state.nights, fact.night));
  record->refusals.push_back(fact.proposal + ": " + fact.reason);
  return {};
}

base::Status on(State& state, const HypothesisOpened& fact) {
  NS_ASSIGN(campaign, find(state.campaigns, fact.hypothesis.campaign));
  ++campaign->confirmations;
  campaign->open.insert(fact.hypothesis.id);
  if (fact.hypothesis.night) {
    NS_ASSIGN(night, find(state.nights, fact.hypothesis.night));
    night->hypotheses.push_back(fact.hypothesis.id);
  }
  advance_id(state.next_hypothesis, fact.hypothesis.id);
  state.hypotheses.emplace(fact.hypothesis.id, fact.hypothesis);
  index_claim(state, fact.hypothesis);
  follow_queue(state, fact.hypothesis);
  return {};
}

base::Status on(State& state, const HypothesisMoved& fact) {
  NS_ASSIGN(hypothesis, find(state.hypotheses, fact.hypothesis));
  NS_TRY(move_to(hypothesis->state, fact.state, fact.hypothesis.text()));
  if (!fact.reason.empty()) hypothesis->reason = fact.reason;
  follow_queue(state, *hypothesis);
  if (terminal(fact.state)) state.campaigns.at(hypothesis->campaign).open.erase(fact.hypothesis);
  return {};
}

base::Status on(State& state, const HypothesisTaken& fact) {
  NS_ASSIGN(hypothesis, find(state.hypotheses, fact.hypothesis));
  NS_ASSIGN(night, find(state.nights, fact.night));
  if (hypothesis->night != fact.night) {
    night->hypotheses.push_back(fact.hypothesis);
    hypothesis->night = fact.night;
  }
  night->taken = fact.hypothesis;
  hypothesis->parent = fact.parent;
  hypothesis->base = fact.base;
  hypothesis->why_taken = fact.why;
  // A person may propose before any manifest was read; now the conditions can be completed.
  hypothesis->prediction.key = complete_key(*night->manifest, hypothesis->prediction.key);
  index_claim(state, *hypothesis);
  NS_TRY(move_to(hypothesis->state, HypothesisState::preparing, fact.hypothesis.text()));
  follow_queue(state, *hypothesis);
  return {};
}

base::Status on(State& state, const CandidateMade& fact) {
  NS_ASSIGN(hypothesis, find(state.hypotheses, fact.hypothesis));
  hypothesis->candidate = fact.commit;
  hypothesis->branch = fact.branch;
  hypothesis->paths = fact.paths;
  return move_to(hypothesis->state, HypothesisState::testing, fact.hypothesis.text());
}

base::Status on(State& state, const QuestionAnswered& fact) {
  NS_ASSIGN(hypothesis, find(state.hypotheses, fact.hypothesis));
  hypothesis->answers.push_back(fact.answer);
  if (hypothesis->night) {
    NightRecord& night = state.nights.at(hypothesis->night);
    const auto lineage = lineage_of(*hypothesis, *night.manifest);
    record_answer(night.learned.track, lineage, fact.answer.question, fact.answer.verdict);
    bool sized = fact.answer.question == Question::own_metric &&
                 fact.answer.verdict == Verdict::supported && fact.answer.evidence;
    if (sized && !hypothesis->change.empty()) {
      record_size(night.learned.track, lineage, oriented(*night.manifest, hypothesis->prediction),
                  fact.answer.evidence->effect);
    }
  }
  return {};
}

base::Status on(State& state, const HypothesisDecided& fact) {
  NS_ASSIGN(hypothesis, find(state.hypotheses, fact.hypothesis));
  NS_TRY(move_to(hypothesis->state, HypothesisState::decided, fact.hypothesis.text()));
  state.campaigns.at(hypothesis->campaign).open.erase(fact.hypothesis);
  follow_queue(state, *hypothesis);
  hypothesis->verdict = fact.verdict;
  hypothesis->reason = fact.reason;
  hypothesis->evidence = fact.evidence;
  return {};
}

base::Status on(State& state, const ExperimentStarted& fact) {
  NS_ASSIGN(night, find(state.nights, fact.experiment.night));
  night->experiments.push_back(fact.experiment.id);
  night->running.insert(fact.experiment.id);
  if (is_timeline(*night->manifest, fact.experiment))
    night->timelines.insert(timeline_name(fact.experiment.probe, fact.experiment.key));
  ++night->spend.experiments;
  advance_id(state.next_experiment, fact.experiment.id);
  state.experiments.emplace(fact.experiment.id, ExperimentRecord{fact.experiment, {}, 0});
  return {};
}

base::Status on(State& state, const RunRecorded& fact) {
  NS_ASSIGN(record, find(state.experiments, fact.run.experiment));
  NS_ASSIGN(night, find(state.nights, record->experiment.night));
  record->runs.push_back(fact.run);
  record->attempts = std::max(record->attempts, fact.run.attempt + 1);
  record->experiment.cost_s += fact.run.wall_s;
  bool counts = fact.run.outcome == RunOutcome::ok || !broken(Rule::failed_runs_cost);
  if (counts) night->spend.machine_s += fact.run.wall_s;
  if (record->experiment.hypothesis) {
    state.hypotheses.at(record->experiment.hypothesis).cost_s += fact.run.wall_s;
  }
  learn_cost(night->learned, record->experiment, fact.run);
  advance_id(state.next_run, fact.run.id);
  return {};
}

base::Status on(State& state, const ExperimentFinished& fact) {
  NS_ASSIGN(record, find(state.experiments, fact.experiment));
  NS_TRY(move_to(record->experiment.state, ExperimentState::finished, fact.experiment.text()));
  record->experiment.answer = fact.answer;
  auto& night = state.nights.at(record->experiment.night);
  night.running.erase(fact.experiment);
  bool is_noise = !record->experiment.hypothesis && !record->experiment.merge;
  if (is_timeline(*night.manifest, record->experiment)) return {};  // it says nothing, at worst
  if (!is_noise && fact.answer.evidence) learn_noise(night, *fact.answer.evidence);
  if (is_noise && fact.answer.verdict != Verdict::no_difference) {
    if (++night.noise_failures[to_text(record->experiment.key)] >= 2) {
      night.machine_trouble = fact.answer.reason;
    }
  }
  return {};
}

base::Status on(State& state, const ExperimentCancelled& fact) {
  NS_ASSIGN(record, find(state.experiments, fact.experiment));
  state.nights.at(record->experiment.night).running.erase(fact.experiment);
  return move_to(record->experiment.state, ExperimentState::cancelled, fact.experiment.text());
}

base::Status on(State& state, const NoiseMeasured& fact) {
  NS_ASSIGN(night, find(state.nights, fact.night));
  night->learned.noise[to_text(fact.key)] = fact.noise;
  night->measured_noise.insert(to_text(fact.key));
  return {};
}

base::Status on(State& state, const TimelineRead& fact) {
  NS_ASSIGN(night, find(state.nights, fact.night));
  night->timelines.insert(timeline_name(fact.probe, fact.key));
  const auto probe = night->manifest->probes.find(fact.probe);
  if (fact.timeline && probe != night->manifest->probes.end())
    night->shares.push_back({fact.probe, fact.key, fact.timeline->stacks, probe->second.spans});
  fill_queue(state, campaign_of(state, *night), *night);
  return {};
}

base::Status on(State& state, const MergeOpened& fact) {
  NS_ASSIGN(night, find(state.nights, fact.merge.night));
  night->merges.push_back(fact.merge.id);
  advance_id(state.next_merge, fact.merge.id);
  state.merges.emplace(fact.merge.id, fact.merge);
  return {};
}

base::Status on(State& state, const MergeChanged& fact) {
  NS_ASSIGN(merge, find(state.merges, fact.merge));
  if (fact.state == MergeState::preparing) {  // a new merge commit will need its own evidence
    if (!broken(Rule::merge_is_measured_anew)) merge->answers.clear();
    merge->merged = {};
    merge->approved_commit = {};
    merge->approved_by.clear();
    merge->approved_at = {};
    ++merge->remeasures;
  }
  bool confirmed = merge->state == MergeState::measuring && fact.state == MergeState::waiting;
  if (confirmed && merge->remeasures == 0) ++state.campaigns.at(merge->campaign).confirmed;
  NS_TRY(move_to(merge->state, fact.state, fact.merge.text()));
  merge->reason = fact.reason;
  if (fact.base) merge->base = fact.base;
  if (fact.merged) merge->merged = fact.merged;
  if (!fact.landed_ref.empty()) merge->landed_ref = fact.landed_ref;
  if (!fact.known.empty()) merge->known = fact.known;
  if (!fact.unknown.empty()) merge->unknown = fact.unknown;
  return {};
}

base::Status on(State& state, const MergeAnswered& fact) {
  NS_ASSIGN(merge, find(state.merges, fact.merge));
  merge->answers.push_back(fact.answer);
  return {};
}

base::Status on(State& state, const MergeApproved& fact) {
  NS_ASSIGN(merge, find(state.merges, fact.merge));
  merge->approved_commit = fact.commit;
  merge->approved_by = fact.who;
  merge->approved_at = fact.at;
  return move_to(merge->state, MergeState::approved, fact.merge.text());
}

base::Status on(State& state, const PlannerSpoke& fact) {
  NS_ASSIGN(night, find(state.nights, fact.turn.night));
  if (!broken(Rule::tokens_count)) night->spend.tokens += fact.turn.tokens;
  night->turns = std::max(night->turns, fact.turn.turn);
  if (fact.turn.outcome == "proposed" && fact.turn.planner == "llm") night->fruitless = 0;
  if (fact.turn.outcome == "failed") ++night->fruitless;
  if (fact.turn.outcome == "stopped") night->planner_stopped = fact.turn.text;
  return {};
}

base::Status on(State& state, const TargetFetched& fact) {
  NS_ASSIGN(campaign, find(state.campaigns, fact.campaign));
  campaign->last_fetch = fact.at;
  campaign->fetch_trouble = fact.trouble;
  for (const auto& read : fact.branches) campaign->read.insert(read.commit);
  return {};
}

base::Status on(State&, const Noted&) { return {}; }

}  // namespace

base::Status apply(State& state, const Fact& fact) {
  return std::visit([&](const auto& f) { return on(state, f); }, fact);
}

}  // namespace orchestrator

// What people ask for, by CLI, API or page. Each command is answered in the step that records it.
#include <fmt/format.h>

#include <algorithm>

#include "hypotheses/transitions.h"
#include "orchestrator/broken_rule.h"
#include "orchestrator/decide.h"
#include "orchestrator/planning.h"
#include "orchestrator/questions.h"

namespace orchestrator {

using base::ErrorCode;
using hypotheses::CampaignState;
using hypotheses::MergeState;
using hypotheses::NightState;

namespace {

Decision refuse(ErrorCode code, std::string message) {
  Decision decision;
  decision.reply = base::fail(code, std::move(message));
  return decision;
}

Decision unknown(const std::string& id) {
  return refuse(ErrorCode::not_found,
                "there is no " + id + "; `nightshift show` lists what there is");
}

void answer(Decision& decision, std::string id, std::string text) {
  decision.reply = web::Reply{std::move(id), std::move(text)};
}

// Whether "https://user:password@host/..." holds a password: a target is stored and shown.
bool holds_password(const std::string& target) {
  const std::size_t scheme = target.find("://");
  if (scheme == std::string::npos) return false;
  const std::string host = target.substr(scheme + 3, target.find('/', scheme + 3) - scheme - 3);
  const std::size_t at = host.rfind('@');
  return at != std::string::npos && host.find(':') < at;
}

Decision on(const State& state, const web::CreateCampaign& command, base::Instant now) {
  hypotheses::Campaign campaign = command.campaign;
  auto policy = policies::read_policy(campaign.policy, "policy");
  if (!policy) return refuse(ErrorCode::bad_input, policy.error().text());
  if (campaign.target.empty()) {
    return refuse(ErrorCode::bad_input,
                  "a campaign needs a target: the path or URL of a git repository");
  }
  if (holds_password(campaign.target)) {
    return refuse(
        ErrorCode::bad_input,
        "the target's URL holds a password, which would be stored and shown; leave it out "
        "and set NIGHTSHIFT_GIT_USER and NIGHTSHIFT_GIT_TOKEN for the daemon");
  }
  if (!campaign.planner.empty() && campaign.planner != "builtin" && campaign.planner != "llm") {
    return refuse(ErrorCode::bad_input,
                  "planner must be builtin or llm, found: " + campaign.planner);
  }
  if (!campaign.schedule.empty()) {
    auto schedule = policies::Schedule::parse(campaign.schedule, campaign.time_zone);
    if (!schedule) return refuse(ErrorCode::bad_input, schedule.error().text());
  }
  campaign.id = {state.next_campaign};
  campaign.created = now;
  campaign.state = CampaignState::active;
  if (campaign.name.empty()) campaign.name = campaign.id.text();
  Decision decision;
  std::string text = campaign.id.text() + " created";
  if (command.start_now) {
    decision.facts.push_back(hypotheses::CampaignCreated{campaign});
    decision.facts.push_back(hypotheses::NightDue{campaign.id, now, "asked for"});
    decision.effects.push_back(OpenNight{campaign.id});
    text += "; its first night is starting";
  } else {
    decision.facts.push_back(hypotheses::CampaignCreated{campaign});
    if (!campaign.schedule.empty()) {
      auto schedule = policies::Schedule::parse(campaign.schedule, campaign.time_zone);
      text += "; next night at " + to_text(schedule->next_after(now));
    }
  }
  answer(decision, campaign.id.text(), std::move(text));
  return decision;
}

// Whether a pending effect is the campaign's work; what a person approved still lands.
bool is_work_of(const State& state, const EffectKind& effect, hypotheses::CampaignId campaign) {
  if (const auto* run = std::get_if<RunAttempt>(&effect)) {
    return state.experiments.at(run->experiment).experiment.campaign == campaign;
  }
  if (const auto* make = std::get_if<MakeCandidate>(&effect)) {
    return state.hypotheses.at(make->hypothesis).campaign == campaign;
  }
  if (const auto* ask = std::get_if<AskPlanner>(&effect)) {
    return state.nights.at(ask->night).night.campaign == campaign;
  }
  if (const auto* prepare = std::get_if<PrepareMerge>(&effect)) {
    return state.merges.at(prepare->merge).campaign == campaign;
  }
  if (const auto* fetch = std::get_if<FetchTarget>(&effect)) return fetch->campaign == campaign;
  const auto* open = std::get_if<OpenNight>(&effect);
  return open != nullptr && open->campaign == campaign;
}

// Ends everything of a night that is not decided, also a merge that is measured anew after its end.
void cancel_night(Decision& decision, const State& state, const NightRecord& night,
                  const std::string& why, base::Instant now) {
  for (auto id : night.running) {
    decision.facts.push_back(hypotheses::ExperimentCancelled{id, why});
  }
  for (auto id : night.merges) {
    MergeState merge = state.merges.at(id).state;
    if (merge != MergeState::preparing && merge != MergeState::measuring) continue;
    decision.facts.push_back(
        hypotheses::MergeChanged{id, MergeState::failed, why, {}, {}, {}, {}, {}});
  }
  if (night.night.state == NightState::running) {
    decision.facts.push_back(hypotheses::NightEnded{night.night.id, now, why});
  }
}

void cancel_work(Decision& decision, const State& state, const CampaignRecord& record,
                 base::Instant now) {
  const std::string why = "the campaign was cancelled";
  for (const auto& [id, effect] : state.pending) {
    if (!is_work_of(state, effect.kind, record.campaign.id)) continue;
    const auto* run = std::get_if<RunAttempt>(&effect.kind);
    if (run != nullptr) decision.effects.push_back(StopExperiment{run->experiment});
    decision.done.push_back(id);
  }
  for (auto id : record.open) {
    decision.facts.push_back(
        hypotheses::HypothesisMoved{id, hypotheses::HypothesisState::cancelled, why});
  }
  for (auto id : record.nights) {
    cancel_night(decision, state, state.nights.at(id), why, now);
  }
}

Decision on(const State& state, const web::SetCampaignState& command, base::Instant now) {
  auto found = state.campaigns.find(command.campaign);
  if (found == state.campaigns.end()) return unknown(command.campaign.text());
  const CampaignRecord& record = found->second;
  std::string id = command.campaign.text();
  if (record.campaign.state == command.state) {
    Decision decision;
    answer(decision, id, id + " is " + std::string(to_text(command.state)) + " already");
    return decision;
  }
  if (!hypotheses::legal(record.campaign.state, command.state)) {
    return refuse(ErrorCode::conflict, id + " is " + std::string(to_text(record.campaign.state)) +
                                           " and cannot become " +
                                           std::string(to_text(command.state)));
  }
  Decision decision;
  decision.facts.push_back(
      hypotheses::CampaignChanged{command.campaign, command.state, command.reason});
  std::string text = id + " is " + std::string(to_text(command.state));
  if (command.state == CampaignState::paused) {
    text += "; what runs now is finished, nothing new is started";
  }
  if (command.state == CampaignState::cancelled) cancel_work(decision, state, record, now);
  answer(decision, id, std::move(text));
  return decision;
}

Decision on(const State& state, const web::StartNight& command, base::Instant now) {
  auto found = state.campaigns.find(command.campaign);
  if (found == state.campaigns.end()) return unknown(command.campaign.text());
  const CampaignRecord& record = found->second;
  std::string id = command.campaign.text();
  if (record.campaign.state != CampaignState::active) {
    return refuse(ErrorCode::conflict,
                  id + " is " + std::string(to_text(record.campaign.state)) + "; resume it first");
  }
  bool busy = record.running || night_opening(state, command.campaign);
  if (busy && !broken(Rule::one_night_at_a_time)) {
    return refuse(ErrorCode::conflict, id + " has a night running already");
  }
  Decision decision;
  decision.facts.push_back(hypotheses::NightDue{command.campaign, now, "asked for"});
  decision.effects.push_back(OpenNight{command.campaign});
  answer(decision, id, "a night of " + id + " is starting");
  return decision;
}

Decision on(const State& state, const web::AskWhy& command, base::Instant now) {
  auto found = state.hypotheses.find(command.hypothesis);
  if (found == state.hypotheses.end()) return unknown(command.hypothesis.text());
  const hypotheses::Hypothesis& hypothesis = found->second;
  Decision decision;
  answer(decision, hypothesis.id.text(),
         hypothesis.state == hypotheses::HypothesisState::queued
             ? why_waiting(state, hypothesis, now)
             : "does not wait: it is " + std::string(to_text(hypothesis.state)));
  return decision;
}

Decision on(const State& state, const web::Propose& command, base::Instant now) {
  auto found = state.campaigns.find(command.campaign);
  if (found == state.campaigns.end()) return unknown(command.campaign.text());
  const CampaignRecord& record = found->second;
  if (record.campaign.state == CampaignState::cancelled) {
    return refuse(ErrorCode::conflict, command.campaign.text() + " is cancelled");
  }
  Proposal proposal;
  proposal.claim = command.claim;
  proposal.change = command.change;
  proposal.prediction = command.prediction;
  if (!command.branch.empty()) proposal.change.branch = command.branch;
  if (auto why_not = outside_refusal(state, record, proposal)) {
    return refuse(ErrorCode::refused, *why_not);
  }
  auto origin =
      !proposal.change.branch.empty() ? hypotheses::Origin::branch : hypotheses::Origin::person;
  auto hypothesis = open_hypothesis(state, record, proposal, origin, now);
  std::string id = hypothesis.id.text();
  Decision decision;
  decision.facts.push_back(hypotheses::HypothesisOpened{std::move(hypothesis)});
  answer(decision, id,
         id + (record.running ? " is queued in the running night"
                              : " waits for the campaign's next night"));
  return decision;
}

Decision on(const State& state, const web::Approve& command, base::Instant now) {
  auto found = state.merges.find(command.merge);
  if (found == state.merges.end()) return unknown(command.merge.text());
  const auto& merge = found->second;
  std::string id = command.merge.text();
  if (merge.state != MergeState::waiting) {
    return refuse(ErrorCode::conflict, id + " is " + std::string(to_text(merge.state)) +
                                           ", not waiting for approval" +
                                           (merge.reason.empty() ? "" : ": " + merge.reason));
  }
  bool another = command.commit && command.commit != merge.merged;
  if (another && !broken(Rule::approval_is_of_this_commit)) {
    return refuse(ErrorCode::conflict, id + " was tested as " + merge.merged.hex + ", not as " +
                                           command.commit.hex + "; look at it again");
  }
  Decision decision;
  decision.facts.push_back(
      hypotheses::MergeApproved{command.merge, merge.merged, command.who, now});
  decision.effects.push_back(LandMerge{command.merge});
  answer(decision, id, id + " approved at " + merge.merged.brief() + "; landing it");
  return decision;
}

// Ends the experiment by which a merge is measured; what it completes later is late.
void stop_measuring(Decision& decision, const State& state, const hypotheses::MergeRequest& merge,
                    const std::string& why) {
  for (auto id : state.nights.at(merge.night).running) {
    if (state.experiments.at(id).experiment.merge != merge.id) continue;
    decision.facts.push_back(hypotheses::ExperimentCancelled{id, why});
    for (const auto& [effect_id, effect] : state.pending) {
      const auto* run = std::get_if<RunAttempt>(&effect.kind);
      if (run == nullptr || run->experiment != id) continue;
      decision.effects.push_back(StopExperiment{id});
      decision.done.push_back(effect_id);
    }
  }
}

Decision on(const State& state, const web::Reject& command, base::Instant) {
  auto found = state.merges.find(command.merge);
  if (found == state.merges.end()) return unknown(command.merge.text());
  std::string id = command.merge.text();
  if (!hypotheses::legal(found->second.state, MergeState::rejected)) {
    return refuse(ErrorCode::conflict, id + " is " + std::string(to_text(found->second.state)) +
                                           " and can no longer be rejected");
  }
  Decision decision;
  stop_measuring(decision, state, found->second, id + " was rejected");
  hypotheses::MergeChanged change;
  change.merge = command.merge;
  change.state = MergeState::rejected;
  change.reason =
      "rejected by " + command.who + (command.reason.empty() ? "" : ": " + command.reason);
  decision.facts.push_back(std::move(change));
  answer(decision, id, id + " rejected");
  return decision;
}

}  // namespace

Decision on_command(const State& state, const web::Command& command, base::Instant now) {
  return std::visit([&](const auto& c) { return on(state, c, now); }, command);
}

}  // namespace orchestrator

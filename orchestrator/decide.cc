#include "orchestrator/decide.h"

#include <algorithm>

#include "orchestrator/broken_rule.h"
#include "orchestrator/pushed.h"

namespace orchestrator {

using hypotheses::CampaignState;

namespace {

// After a restart: an LLM that was being asked is not waited for (its answer is lost, and asking
// the same again would spend twice); everything else that was pending is performed again.
Decision on_started(const State& state, const Started& started) {
  Decision decision;
  for (const auto& [id, effect] : state.pending) {
    const auto* ask = std::get_if<AskPlanner>(&effect.kind);
    if (ask == nullptr) continue;
    const NightRecord& night = state.nights.at(ask->night);
    decision.done.push_back(id);
    decision.facts.push_back(hypotheses::PlannerSpoke{
        {night.night.campaign, ask->night, ask->turn, "llm", ask->reserved_tokens, "failed",
         "the daemon was restarted while the planner was asked; its reserve counts as spent"}});
  }
  for (const auto& [id, campaign] : state.campaigns) {
    if (!campaign.running) continue;
    decision.facts.push_back(hypotheses::Noted{id, *campaign.running,
                                               "the daemon restarted with " +
                                                   std::to_string(started.pending_effects) +
                                                   " effects pending; they are performed again"});
  }
  return decision;
}

}  // namespace

// A schedule fires when its time has passed since the last fire. A night that is still running, or
// a paused campaign, lets the fire pass; what was missed while the daemon was down is not made up
// for, except that one fire within the last minute counts as on time.
Decision on_tick(const State& state, base::Instant now) {
  constexpr double kGrace_s = 60;
  Decision decision;
  for (const auto& [id, record] : state.campaigns) {
    if (record.campaign.state != CampaignState::active || !record.schedule) continue;
    base::Instant since = std::max(record.last_due, now.plus_s(-kGrace_s));
    base::Instant due = record.schedule->next_after(since);
    if (due.ms == 0 || due > now) continue;
    bool busy = record.running.has_value() || night_opening(state, id);
    decision.facts.push_back(hypotheses::NightDue{
        id, due, busy ? "scheduled, but a night is still running" : "scheduled"});
    if (!busy) decision.effects.push_back(OpenNight{id});
  }
  for (const auto& [id, record] : state.campaigns) {
    if (const auto due = fetch_due(state, record); due && *due <= now) {
      decision.effects.push_back(FetchTarget{id});
    }
  }
  return decision;
}

base::Instant next_wake(const State& state, base::Instant now) {
  base::Instant wake = now.plus_s(3600);
  for (const auto& [id, record] : state.campaigns) {
    if (record.campaign.state != CampaignState::active) continue;
    if (record.schedule) {
      base::Instant due = record.schedule->next_after(std::max(record.last_due, now.plus_s(-60)));
      if (due.ms != 0) wake = std::min(wake, due);
    }
    if (record.running) {
      base::Instant deadline = state.nights.at(*record.running).night.deadline;
      if (deadline > now) wake = std::min(wake, deadline);
    }
    if (const auto due = fetch_due(state, record)) wake = std::min(wake, *due);
  }
  return std::max(wake, now);
}

Decision advance(const State& state, base::Instant now) {
  for (const auto& [id, night] : state.nights) {
    bool active = campaign_of(state, night).campaign.state == CampaignState::active;
    if (!active && !broken(Rule::paused_starts_nothing)) continue;
    bool open = night.night.state == hypotheses::NightState::running;
    bool merging = std::any_of(night.merges.begin(), night.merges.end(), [&](auto merge) {
      return state.merges.at(merge).state == hypotheses::MergeState::measuring;
    });
    if (!open && !merging) continue;
    Decision decision = advance_night(state, night, now);
    if (!decision.empty()) return decision;
  }
  return {};
}

Decision decide(const State& state, const Event& event, base::Instant now) {
  struct Visitor {
    const State& state;
    base::Instant now;
    Decision operator()(const Started& started) const { return on_started(state, started); }
    Decision operator()(const Tick&) const { return on_tick(state, now); }
    Decision operator()(const Advance&) const { return advance(state, now); }
    Decision operator()(const CommandGiven& given) const {
      return on_command(state, given.command, now);
    }
    Decision operator()(const Remark& remark) const {
      Decision decision;
      decision.facts.push_back(hypotheses::Noted{remark.campaign, {}, remark.text});
      return decision;
    }
    Decision operator()(const Completed& completed) const {
      return on_completion(state, completed, now);
    }
  };
  return std::visit(Visitor{state, now}, event);
}

}  // namespace orchestrator

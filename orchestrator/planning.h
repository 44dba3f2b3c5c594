// What the planner is shown, and what becomes of its steps.
#pragma once

#include "base/clock.h"
#include "hypotheses/facts.h"
#include "orchestrator/decide.h"
#include "orchestrator/planner.h"
#include "orchestrator/state.h"

namespace orchestrator {

// The history in the view holds the newest claims, and older ones that tried the proposal, or one
// of the knobs' other choices beside the incumbent.
PlannerView view_of(const State& state, const NightRecord& night,
                    const Proposal* proposal = nullptr);

// A checked proposal as a hypothesis in the queue of its campaign; `ahead` of it so many others are
// opened in the same decision.
hypotheses::Hypothesis open_hypothesis(const State& state, const CampaignRecord& campaign,
                                       const Proposal& proposal, hypotheses::Origin origin,
                                       base::Instant now, int ahead = 0);

// Why a proposal from outside cannot be opened; empty when it can. The newest manifest that was
// read checks it and completes its conditions; without one its first night will.
std::optional<std::string> outside_refusal(const State& state, const CampaignRecord& campaign,
                                           Proposal& proposal);

// The facts of a planner's step: a hypothesis opened, a refusal, or the planner's stop.
void add_step(Decision& decision, const State& state, const NightRecord& night, const Step& step,
              hypotheses::Origin origin, base::Instant now);

// One turn of the night's planner: the built-in one answers at once, the LLM is asked.
Decision take_turn(const State& state, const NightRecord& night, base::Instant now);

}  // namespace orchestrator

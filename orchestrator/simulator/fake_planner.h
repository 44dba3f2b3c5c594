// Planners and people that propose anything at all: now and then something sensible.
#pragma once

#include "base/rng.h"
#include "orchestrator/orders.h"
#include "web/api/ports.h"

namespace orchestrator {

// The LLM's answer to one order: the same for the same order. It spends what it may: as many
// exchanges as the policy allows, each of at most its answer's tokens.
PlannerAnswered fake_answer(const PlannerOrder& order, std::uint64_t seed);

// A person's proposal for the campaign.
web::Propose fake_proposal(hypotheses::CampaignId campaign, base::Rng& rng);

}  // namespace orchestrator

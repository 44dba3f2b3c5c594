// Branches that somebody pushed below try/: when a night looks for them, and what they become.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "orchestrator/decide.h"
#include "orchestrator/events.h"
#include "orchestrator/state.h"

namespace orchestrator {

// When the target of a running night is looked at next; none while it is, or where it never is.
std::optional<base::Instant> fetch_due(const State& state, const CampaignRecord& campaign);

// The facts of a target that was read. A commit that is new and says `Hypothesis:` and `Predicts:`
// becomes a hypothesis; of any other a note says once what was expected.
void read_branches(Decision& decision, const State& state, const CampaignRecord& campaign,
                   const std::vector<PushedBranch>& branches, base::Instant now);

}  // namespace orchestrator

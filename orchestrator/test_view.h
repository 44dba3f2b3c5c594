// What a planner sees of the toy target, for the tests of planners and proposals.
#pragma once

#include "orchestrator/planner.h"

namespace orchestrator {

// Knobs toy.tile (16, 32, 64; now 32) and toy.variant (0, 1, 2; now 0), metric toy.time in two
// batches, no history.
PlannerView toy_view();

// A judged claim of the view's night on its incumbent.
PastClaim toy_past(const PlannerView& view, std::int64_t id,
                   std::vector<hypotheses::KnobSetting> knobs, hypotheses::Verdict verdict,
                   double effect);

}  // namespace orchestrator

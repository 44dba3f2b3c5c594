// What a night learns of costs and noise from what it records anyway.
#pragma once

#include "orchestrator/state.h"

namespace orchestrator {

// What a build or a run that went well took.
void learn_cost(policies::Learned& learned, const hypotheses::Experiment& experiment,
                const hypotheses::Run& run);

// The pairs of any comparison show its metric's noise: a constant factor does not change their
// spread. What A/A measured is better, and stays.
void learn_noise(NightRecord& night, const hypotheses::Evidence& evidence);

}  // namespace orchestrator

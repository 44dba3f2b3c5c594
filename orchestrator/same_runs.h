// Answers that runs hold which were made for another question.
#pragma once

#include <vector>

#include "orchestrator/decide.h"
#include "orchestrator/experiments.h"

namespace orchestrator {

// A probe often emits a guard's metric beside the one that it was asked for. Where those runs, of
// the same commits and builds, settle an open guard, that is its answer and no run is made for it.
// The answer names their experiment. Nothing when they do not settle it: then it is asked on runs
// of its own. Looking at pairs that another metric decided to end is sound, since the guard's
// intervals hold at all looks at once.
Decision answer_from_same_runs(const State& state, const NightRecord& night, const Asker& asker,
                               const std::vector<Needed>& needed);

// Whether another attempt of an experiment that shows a gain is worth its price for the guards that
// its runs tell as well: one of them is open, observed, and not settled yet. Runs of its own would
// begin with no pair.
bool guards_want_more(const State& state, const NightRecord& night, const ExperimentRecord& record);

}  // namespace orchestrator

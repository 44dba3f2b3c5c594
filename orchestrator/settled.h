// What the state may forget, so that it does not grow with every run that was ever made.
#pragma once

#include "orchestrator/state.h"

namespace orchestrator {

// A night is settled when nothing can happen to it any more: it has ended, it is not its campaign's
// newest, its merges are landed, rejected or failed, no hypothesis that is open was in it or has
// answers from it, and no pending effect works for it. Of a settled night only what later nights
// compare themselves with is kept: its base and settings, and of its hypotheses what they claimed
// and what came of it. Experiments, runs, answers and what it had learned stay in the log and the
// tables.
//
// Which nights are settled follows from the facts and the outbox alone: forgetting early or late
// leads to the same state.
void forget_settled(State& state);

}  // namespace orchestrator

// Timelines of the base commit, run once at the start of a night: how much of a metric's time a
// change touches is read from them. One that fails costs the night nothing but its run.
#pragma once

#include "orchestrator/decide.h"

namespace orchestrator {

// Starts the next timeline of the manifest that was not asked for yet in this night and that no
// earlier one has read of the same base, or records that the budget does not pay for it. Empty when
// there is none.
Decision ask_timeline(const State& state, const NightRecord& night, base::Instant now);

// What a finished timeline says: that of its run, or why there is none.
hypotheses::TimelineRead timeline_read(const ExperimentRecord& record,
                                       const hypotheses::Answer& answer);

// "kda_decode 32%, attention 10%; idle 12%; never seen: moe"
std::string timeline_text(const hypotheses::Timeline& timeline);

}  // namespace orchestrator

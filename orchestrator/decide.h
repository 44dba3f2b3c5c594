// The functional core: from what is known and what happened to what is recorded and what is done
// next. No clock, no IO, no randomness but seeded generators; the shell (shell.h) does the rest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hypotheses/facts.h"
#include "orchestrator/effects.h"
#include "orchestrator/events.h"
#include "orchestrator/state.h"

namespace orchestrator {

struct Decision {
  std::vector<hypotheses::Fact> facts;
  std::vector<EffectKind> effects;                // get their ids when they are committed
  std::vector<hypotheses::EffectId> done;         // effects that are no longer pending
  std::optional<base::Result<web::Reply>> reply;  // to a command

  bool empty() const { return facts.empty() && effects.empty() && done.empty() && !reply; }
};

// One small step. After a step that changed anything the shell asks again with Advance, until
// nothing is left to do but wait.
Decision decide(const State& state, const Event& event, base::Instant now);

// The parts, one file each.
Decision on_command(const State& state, const web::Command& command, base::Instant now);
Decision on_completion(const State& state, const Completed& completed, base::Instant now);
Decision on_tick(const State& state, base::Instant now);  // schedules that are due
Decision advance(const State& state, base::Instant now);  // the rules are in advance.cc
Decision advance_night(const State& state, const NightRecord& night, base::Instant now);
Decision advance_merge(const State& state, const NightRecord& night,
                       const hypotheses::MergeRequest& merge);

// When the loop must be woken next although nothing was posted: the next schedule or deadline.
base::Instant next_wake(const State& state, base::Instant now);

}  // namespace orchestrator

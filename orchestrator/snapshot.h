// The state as text, and back: what a restart begins with instead of the first event. The text says
// all of the state but its pending effects, so two states with the same text are the same.
#pragma once

#include <string>

#include "base/result.h"
#include "orchestrator/state.h"

namespace orchestrator {

std::string to_snapshot(const State& state);

// Error corrupt when the text is not one that to_snapshot() of this program gave.
base::Result<State> from_snapshot(const std::string& text);

}  // namespace orchestrator

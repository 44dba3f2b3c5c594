// A small target for tests and for the simulator.
#pragma once

#include "orchestrator/simulator/fake_target.h"

namespace orchestrator {

// A kernel with two knobs: toy.tile (16, 32, 64; at 32, 64 is faster, 16 slower) and toy.variant
// (0, 1, 2; at 0, 1 is faster, 2 is fastest and wrong), checked by toy.check and measured as
// toy.time in two batches; bench/ is protected. `exact` metrics need one pair each and give short
// nights.
FakeWorld toy_world(std::uint64_t seed, bool exact);

// The same with toy.tile as its only knob: a night of three hypotheses.
FakeWorld tile_world(std::uint64_t seed, bool exact);

}  // namespace orchestrator

// How others decide, as strategies with settings (docs/statistics.md says what is public about
// them and how the settings were tuned).
#pragma once

#include <array>

#include "policies/bench/strategy.h"

namespace policies::bench {

// When a strategy measures a build that was made anew.
enum class Fresh { never, at_engine, to_confirm };

enum class Test { none, mann_whitney, signed_rank };

// One stage of a ladder or a cascade: so many pairs; passed when the median gain is at least this,
// and the test, if there is one, says that it is a difference.
struct Rung {
  int pairs = 0;  // 0 = the layer is skipped
  double gain = 0;
  double alpha = 1;
};

// Kernel, component, engine, from the subject's layer on. Builds and correctness come first.
struct LadderSettings {
  std::array<Rung, 3> rungs;
  Test test = Test::none;
  Fresh fresh = Fresh::never;
};
Strategy ladder(std::string name, const LadderSettings& settings);

// Pinpoint's three-way comparison at each layer: different, same, or more attempts.
struct PinpointSettings {
  double magnitude = 1;      // shift in interquartile ranges that must not be missed
  double low = 0.01;         // different below this
  int step = 10, most = 60;  // attempts
  double gain = kMinGain;    // needed at the engine
  Fresh fresh = Fresh::never;
};
Strategy pinpoint(std::string name, const PinpointSettings& settings);

// Optuna's median rule over the running mean of engine pairs.
struct PrunerSettings {
  int warmup = 3, most = 20;
  double gain = kMinGain;
  Fresh fresh = Fresh::never;
};
Strategy median_pruner(std::string name, const PrunerSettings& settings);

// Nightshift's own test, at the engine alone.
struct SequentialSettings {
  double alpha = 0.05;
  int most = kMostPairs;
  Fresh fresh = Fresh::never;
};
Strategy sequential_engine(std::string name, const SequentialSettings& settings);

}  // namespace policies::bench

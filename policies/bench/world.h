// A world of hypotheses whose truth is known, to count what a way of deciding costs and how often
// it errs (docs/statistics.md, "The labelled benchmark").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "policies/recording.h"
#include "policies/track.h"

namespace policies::bench {

// What a person could turn to ask whether the result depends on it.
struct WorldOptions {
  int campaigns = 10;
  int hypotheses = 60;      // of each campaign
  double noise_factor = 1;  // on every log-ratio
  double share_factor = 1;  // how many times too large (or small) the traces show every share
  double boast = 1;         // on top of what predictions exaggerate anyway
};

// One hypothesis and the truth about it. Effects are oriented log-ratios: positive = better.
struct Case {
  int campaign = 0;
  Lineage lineage;         // its layer is the subject's
  double predicted = 0;    // on its own metric
  double shown_share = 1;  // of the goal's time, as a trace shows it
  double part = 1;         // of its component's time, true
  bool builds = true, correct = true;
  double own = 0, component = 0, goal = 0, guard = 0;  // true effects
  double own_luck = 0, goal_luck = 0;  // of the first build's code layout; gone in the next
  double build_s = 0;                  // warm
  bool worth_accepting = false;  // builds, is correct, keeps the guard, gains enough at the goal
  // An oracle that knows the noise tells it from the minimum gain (or the margin) within the cap of
  // pairs at the engine, wrong in one of twenty bad ones and one of ten good ones.
  bool resolvable = true;
};

// Machine-seconds of what can be done.
struct Prices {
  double cold_build_s = 150;  // of one side, from an empty folder
  double check_s = 3;
  double kernel_run_s = 1, component_run_s = 6, engine_run_s = 60;
  double run_s(hypotheses::Layer layer) const;
};

inline constexpr double kGuardMargin = 0.05;  // of the guard metric, as the default policy's
inline constexpr double kMinGain = 0.02;      // at the goal, likewise
inline constexpr int kMostPairs = 40;         // likewise

// How noisy a layer is against the recording of its campaign's machine: a kernel's benchmark as
// recorded, a component's and a guard's run averages over more work, the engine's over most.
inline constexpr double kComponentCalm = 2, kGuardCalm = 2, kEngineCalm = 4;

// Recordings by the stem of their file names.
using Recordings = std::map<std::string, Recording>;
base::Result<Recordings> read_recordings(const std::string& folder);
const Recording& recording_of(const Recordings& recordings, int campaign);  // in turn
double noise_of(const Recording& recording);  // s.d. of the paired log-ratio

struct World {
  WorldOptions options;
  Prices prices;
  std::vector<Case> cases;  // by campaign
};

// The world of a seed; the same for every strategy.
World make_world(const WorldOptions& options, const Recordings& recordings, std::uint64_t seed);

inline constexpr double kBuild_s = 25;          // a warm build, the median
inline constexpr double kLayoutJitter = 0.003;  // s.d. of what code layout does to every build

}  // namespace policies::bench

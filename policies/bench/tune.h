// The search for a competitor's best settings, on worlds that are not the reported ones.
#pragma once

#include "policies/bench/strategy.h"

namespace policies::bench {

// One setting and what it may be.
struct Dial {
  std::string name;
  std::vector<double> choices;
};

// A competitor whose settings are open: one value for each dial.
struct Tunable {
  std::string name;
  std::vector<Dial> dials;
  std::function<Strategy(const std::vector<double>&)> make;
  std::vector<double> tuned;  // what the search found
};

// What the search looks for: the fewest machine-seconds per correct verdict, without more of these.
// With no limit on misses the best of all strategies is to reject everything.
struct Limits {
  double false_accepts = 0.05;      // upper bound, of the bad
  double false_discoveries = 0.05;  // upper bound, of the accepted
  double missed = 0.12;             // of the good
};

struct Tuned {
  std::vector<double> values;
  Score score;
};

// Coordinate descent from the tuned values and from `restarts` random ones.
Tuned tune(const Tunable& competitor, const Limits& limits, const WorldOptions& options,
           const Recordings& recordings, const std::vector<std::uint64_t>& seeds, int restarts);

}  // namespace policies::bench

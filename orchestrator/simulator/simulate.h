// Many simulated lives: one a seed, or for each seed one for every point at which it can crash.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/simulator/simulation.h"

namespace orchestrator {

struct SimulateOptions {
  std::uint64_t first = 1, last = 1;  // seeds
  int nights = 1;                     // of each campaign
  bool exhaustive = false;            // a crash before, after and behind every commit of each seed
  int threads = 0;                    // 0 = one a core
};

// A seed that breaks an invariant, with the shortest list of faults that still does.
struct Failure {
  std::uint64_t seed = 0;
  Violation violation;
  std::vector<std::string> faults;
  std::vector<std::string> trace;  // from the last fault on
};

struct Simulated {
  std::int64_t seeds = 0, lives = 0, commits = 0, restarts = 0, faults = 0;
  std::int64_t nights = 0, experiments = 0, landed = 0;
  std::uint64_t hash = 0;         // of the hashes of all lives, whatever their order
  std::vector<Failure> failures;  // by seed
};

Simulated simulate(const SimulateOptions& options);

// Takes faults away, one after the other, as long as the same invariant breaks.
Plan shrink(Plan plan, const std::string& invariant, const LifeOptions& options);

}  // namespace orchestrator

// One simulated life of a daemon: the real decide(), Shell and store; everything else is fake and
// follows from the plan, so that a plan always gives the same life.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/simulator/faults.h"
#include "orchestrator/simulator/invariants.h"

namespace orchestrator {

struct Life {
  std::vector<Violation> broken;  // the first ends the life
  std::uint64_t hash = 0;         // of everything that was recorded: equal lives, equal hashes
  int commits = 0;
  int restarts = 0;
  int nights = 0, experiments = 0, landed = 0;
  int faults = 0;                  // that struck
  std::vector<std::string> trace;  // what happened, a line each; only when asked for
};

struct LifeOptions {
  bool trace = false;
  std::filesystem::path folder;  // for the state; fast, best in memory
};

Life live(const Plan& plan, const LifeOptions& options);

// Where a state folder is fastest: in memory, where the system has such a place.
std::filesystem::path memory_folder();

}  // namespace orchestrator

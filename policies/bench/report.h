// The benchmark's results as tables for docs/statistics.md and as JSON.
#pragma once

#include <string>
#include <vector>

#include "policies/bench/strategy.h"

namespace policies::bench {

struct Result {
  std::string name, settings;
  std::vector<Score> by_seed;
  bool competes = true;  // false: Nightshift itself, an ablation, a floor

  Score total() const;
};

// Plays each seed in turn.
Result play_all(const Strategy& strategy, const WorldOptions& options, const Recordings& recordings,
                const std::vector<std::uint64_t>& seeds);

// At most 5% false accepts, by the upper bounds: of the bad ones, and of what was accepted, where
// the few good ones make the limit stricter.
bool comparable(const Score& score);

// The cheapest comparable competitor by machine-seconds per correct verdict; none = nullptr.
const Result* best_competitor(const std::vector<Result>& results);

std::string table(const std::vector<Result>& results);
std::string json(const std::vector<Result>& results, const std::vector<std::uint64_t>& seeds);

}  // namespace policies::bench

// Budgets of a night; a limit of 0 is no limit. Work in flight counts with its estimate, so
// parallelism cannot overspend.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "hypotheses/types.h"

namespace policies {

struct Spend {
  double machine_s = 0;     // of finished work
  double in_flight_s = 0;   // estimates of running work
  int experiments = 0;      // finished and running
  std::int64_t tokens = 0;  // committed: asked for, answered or not
};

// Machine-seconds that may still be started; 0 or less = nothing may, kNoLimit = as many as it
// takes.
inline constexpr double kNoLimit = 1e12;
double remaining_machine_s(const hypotheses::Budget& budget, const Spend& spend);

// Why an experiment of this estimate may not start now; nothing when it may.
std::optional<std::string> over_budget(const hypotheses::Budget& budget, const Spend& spend,
                                       double estimate_s, base::Instant started, base::Instant now);

}  // namespace policies

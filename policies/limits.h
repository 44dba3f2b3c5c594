// Results that are too good to be true.
#pragma once

#include <string>

#include "hypotheses/manifest.h"
#include "hypotheses/types.h"

namespace policies {

// What this machine can do at best.
struct MachineLimits {
  double copy_rate = 0;  // bytes per second of a large copy, as measured; 0 = not measured
};

// Why a result is not believed; empty = it is. In this order: a gain above `implausible_ratio`
// (only a gain: a candidate that is ten times worse is just that); a median beyond the metric's
// limit. A copy rate is itself a measurement, so 10% above it is let pass; where it was not
// measured it limits nothing.
std::string flag_of(const hypotheses::Evidence& evidence, const hypotheses::Metric& metric,
                    double implausible_ratio, const MachineLimits& machine);

}  // namespace policies

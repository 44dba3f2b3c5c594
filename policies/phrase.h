// Numbers in the words of the reasons that people read.
#pragma once

#include <string>

#include "hypotheses/types.h"

namespace policies {

std::string percent_text(double fraction);  // 0.02 -> "2%", 0.125 -> "12.5%"
std::string count_text(double count);       // "7", "1,250", "1e+09" from a million on

// An oriented log-ratio: "1.71x faster", "0.4% slower"; "better", "worse" where the unit is no time
// and no rate.
std::string gain_text(double oriented, const std::string& unit);

// "candidate is 1.71x faster (95% interval 1.65x to 1.77x) after 7 pairs"
std::string measured_text(const hypotheses::Evidence& evidence, double alpha);

}  // namespace policies

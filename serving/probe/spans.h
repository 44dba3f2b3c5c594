// How much time the spans of a trace took, by name.
#pragma once

#include <map>
#include <string>

#include "serving/core/result.h"

namespace serving::probe {

// Milliseconds that spans of each name took themselves, without those inside them, summed over all
// lanes. `trace` is what stop_trace wrote. bad_input: it is no trace.
Result<std::map<std::string, double>> own_time_ms(const std::string& trace);

}  // namespace serving::probe

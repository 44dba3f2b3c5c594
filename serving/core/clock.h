// The one clock of serving/: monotonic nanoseconds, for spans, deadlines and measurements.
#pragma once

#include <cstdint>

namespace serving {

// Since an arbitrary start, the same for all threads of the process; never goes back.
std::int64_t now_ns();

}  // namespace serving

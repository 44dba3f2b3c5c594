// Timelines in the Chrome trace event format, and where their time went.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace runners {

struct TraceLimits {
  std::size_t spans = 2'000'000;
  std::size_t names = 200'000;  // different ones
  std::size_t lanes = 4'096;
  std::size_t depth = 512;  // spans open at once in one lane
};

// What ran when. A lane is a thread of a process.
struct Trace {
  struct Span {
    double begin_us = 0, end_us = 0;  // end > begin
    std::uint32_t name = 0, lane = 0;
  };
  std::vector<std::string> names;  // also of spans that took no time
  std::vector<std::string> lanes;  // "1/main": pid and tid
  std::vector<Span> spans;         // the earlier first; of those that begin together the longer
};

// An object with "traceEvents", or the bare list of events, in any order. Complete events (phase X)
// and pairs of B and E are spans, all other phases are skipped, args are never kept. Memory is
// bounded by the limits. Refused with what was expected and found: JSON that breaks off, an event
// without a number where one belongs, a negative duration, a B without its E and the reverse.
base::Result<Trace> read_trace(std::string_view text, const TraceLimits& limits = {});

// Where the time between the first begin and the last end went, as a call tree. An instant belongs
// to one lane: of those that are busy in it, the one that is busy for the longest time in all (then
// the one that stands first in the trace). There it belongs to the innermost span; if spans overlap
// without nesting, to the one that began last. A lane whose innermost span only waits is not busy.
struct CriticalPath {
  struct Node {
    std::int32_t parent = -1;  // an earlier node; -1: nothing of the lane was open around it
    std::uint32_t name = 0;
    double share = 0;  // of the time in which it was the innermost
  };
  std::vector<Node> nodes;
  double idle = 1;  // share in which no lane was busy; with those of all nodes it makes 1
};
base::Result<CriticalPath> critical_path(const Trace& trace,
                                         const std::function<bool(std::string_view)>& waits,
                                         const TraceLimits& limits = {});

}  // namespace runners

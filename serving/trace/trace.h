// Spans of time by thread, written as Chrome trace events that Perfetto opens. Off, a span costs
// one relaxed load; on, two readings of the clock and one store into its thread's own buffer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "serving/core/result.h"

namespace serving {

struct TraceOptions {
  std::size_t spans_per_lane = 1 << 17;  // 9 MiB a thread; what comes after is dropped and counted
};

struct TraceSummary {
  std::size_t lanes = 0, spans = 0, dropped = 0;
};

// unavailable: a trace is under way already.
Status start_trace(const TraceOptions& options = {});
// Ends the trace and writes it as JSON. Spans still open are left out. unavailable: none is under
// way.
Result<TraceSummary> stop_trace(std::ostream& out);
// The same into a file, made anew. io: it cannot be written; the trace has ended all the same.
Result<TraceSummary> stop_trace(const std::string& path);

// The name of this thread's lane; otherwise the operating system's name of the thread.
void name_trace_lane(const char* name);

// A number that a span carries: {"layer", 3}.
struct TraceArg {
  const char* name;  // lives as long as the program; nullptr: no number
  std::int64_t value;
};

namespace detail {
// The number of the trace under way, 0 while there is none.
inline std::atomic<std::uint32_t> trace_number = 0;
}  // namespace detail

inline bool trace_is_on() { return detail::trace_number.load(std::memory_order_relaxed) != 0; }

// From here to the end of the scope: TraceSpan span("engine.step", {"batch", n});
// `name` is the code path, and lives as long as the program.
class TraceSpan {
 public:
  explicit TraceSpan(const char* name, TraceArg a = {}, TraceArg b = {}, TraceArg c = {})
      : trace_(detail::trace_number.load(std::memory_order_relaxed)) {
    if (trace_ != 0) begin(name, a, b, c);
  }
  ~TraceSpan() {
    if (trace_ != 0) end();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  void begin(const char* name, TraceArg a, TraceArg b, TraceArg c);
  void end() noexcept;

  std::uint32_t trace_;
  const char* name_;  // the rest is set only while a trace is under way
  TraceArg args_[3];
  std::int64_t begin_ns_;
};

}  // namespace serving

#include "serving/trace/trace.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "serving/core/clock.h"
#include "serving/trace/lane.h"

namespace serving {
namespace {

// Threads that come and go during one trace must not grow it without bound.
constexpr std::size_t kMostLanes = 256;

struct Lanes {
  std::mutex mutex;
  std::vector<std::shared_ptr<Lane>> list;  // guarded by mutex
  std::uint32_t last_trace = 0;             // guarded by mutex
  std::int64_t begin_ns = 0;                // guarded by mutex
  std::atomic<std::size_t> limit = 0;       // spans a lane
  std::atomic<std::size_t> homeless = 0;    // spans of threads beyond kMostLanes
};

// Never destroyed: threads may outlive the statics of main.
Lanes& lanes() {
  static Lanes* const kLanes = new Lanes;
  return *kLanes;
}

// This thread's lane, made with its first span or name; its end is noted when the thread ends.
class ThisLane {
 public:
  ~ThisLane() {
    if (lane_ == nullptr) return;
    std::lock_guard lock(lanes().mutex);
    lane_->thread_lives = false;
  }

  Lane* get() {
    if (lane_ == nullptr) make();
    return lane_.get();
  }

 private:
  void make() {
    std::lock_guard lock(lanes().mutex);
    if (lanes().list.size() >= kMostLanes) return;
    char name[32] = "thread";
    pthread_getname_np(pthread_self(), name, sizeof name);
    lane_ = std::make_shared<Lane>(name);
    lanes().list.push_back(lane_);
  }

  std::shared_ptr<Lane> lane_;
};

thread_local ThisLane this_lane;

// As a JSON string; what could break the file is replaced: names are code paths.
void write_string(std::ostream& out, std::string_view text) {
  out << '"';
  for (const char c : text) {
    const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
    out << (plain ? c : '_');
  }
  out << '"';
}

// Chrome's unit is the microsecond; three decimals keep the nanoseconds.
void write_us(std::ostream& out, std::int64_t ns) {
  std::array<char, 40> text;
  const int length =
      std::snprintf(text.data(), text.size(), "%lld.%03lld", static_cast<long long>(ns / 1000),
                    static_cast<long long>(ns % 1000));
  out.write(text.data(), length);
}

void write_event(std::ostream& out, const TraceEvent& event, std::size_t lane,
                 std::int64_t begin_ns) {
  out << ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":" << lane << ",\"name\":";
  write_string(out, event.name);
  out << ",\"ts\":";
  write_us(out, std::max<std::int64_t>(0, event.begin_ns - begin_ns));
  out << ",\"dur\":";
  write_us(out, event.end_ns - event.begin_ns);
  const char* separator = ",\"args\":{";
  for (const TraceArg& arg : event.args) {
    if (arg.name == nullptr) continue;
    out << std::exchange(separator, ",");
    write_string(out, arg.name);
    out << ':' << arg.value;
  }
  out << (separator[1] == '\0' ? "}}" : "}");
}

// Needs the mutex: no new trace may begin while lanes are read.
TraceSummary write_trace(std::ostream& out, std::uint32_t trace) {
  TraceSummary summary;
  summary.dropped = lanes().homeless.load();
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
      << R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"serving"}})";
  for (std::size_t i = 0; i < lanes().list.size(); ++i) {
    const Lane& lane = *lanes().list[i];
    const std::size_t size = lane.size(trace);
    summary.dropped += lane.dropped(trace);
    if (size == 0) continue;
    ++summary.lanes;
    summary.spans += size;
    out << ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":" << i + 1
        << R"(,"name":"thread_name","args":{"name":)";
    write_string(out, lane.name);
    out << "}}";
    for (std::size_t k = 0; k < size; ++k) write_event(out, lane[k], i + 1, lanes().begin_ns);
  }
  out << "\n],\"otherData\":{\"dropped\":" << summary.dropped << "}}\n";
  return summary;
}

}  // namespace

Status start_trace(const TraceOptions& options) {
  std::lock_guard lock(lanes().mutex);
  if (trace_is_on()) {
    return fail(ErrorCode::unavailable, "a trace is under way; stop it before starting another");
  }
  std::erase_if(lanes().list, [](const auto& lane) { return !lane->thread_lives; });
  lanes().limit.store(options.spans_per_lane);
  lanes().homeless.store(0);
  lanes().begin_ns = now_ns();
  if (++lanes().last_trace == 0) ++lanes().last_trace;  // 0 means none
  detail::trace_number.store(lanes().last_trace);
  return {};
}

Result<TraceSummary> stop_trace(std::ostream& out) {
  std::lock_guard lock(lanes().mutex);
  const std::uint32_t trace = detail::trace_number.exchange(0);
  if (trace == 0) return fail(ErrorCode::unavailable, "no trace is under way; start one first");
  const TraceSummary summary = write_trace(out, trace);
  if (!out) return fail(ErrorCode::io, "the trace could not be written; is the disk full?");
  return summary;
}

Result<TraceSummary> stop_trace(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  Result<TraceSummary> summary = stop_trace(out);
  out.close();
  if (summary && !out) return fail(ErrorCode::io, path + " could not be written in full");
  if (!summary && summary.error().code == ErrorCode::io) {
    return fail(ErrorCode::io, path + " cannot be written: " + summary.error().message);
  }
  return summary;
}

void name_trace_lane(const char* name) {
  Lane* const lane = this_lane.get();
  if (lane == nullptr) return;
  std::lock_guard lock(lanes().mutex);
  lane->name = name;
}

void TraceSpan::begin(const char* name, TraceArg a, TraceArg b, TraceArg c) {
  // Acquired: who ended the trace before has read this lane's blocks, which are written anew now.
  trace_ = detail::trace_number.load(std::memory_order_acquire);
  name_ = name;
  args_[0] = a;
  args_[1] = b;
  args_[2] = c;
  begin_ns_ = now_ns();
}

void TraceSpan::end() noexcept {
  // A span that outlives its trace is left out: the trace may be in writing already.
  if (detail::trace_number.load(std::memory_order_relaxed) != trace_) return;
  const std::int64_t end_ns = now_ns();
  if (Lane* const lane = this_lane.get()) {
    lane->add(trace_, lanes().limit.load(std::memory_order_relaxed),
              {name_, begin_ns_, end_ns, {args_[0], args_[1], args_[2]}});
  } else {
    lanes().homeless.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace serving

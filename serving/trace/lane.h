// The buffer of one thread. Only that thread writes; whoever ends the trace reads what was
// published.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "serving/trace/trace.h"

namespace serving {

struct TraceEvent {
  const char* name;
  std::int64_t begin_ns, end_ns;
  TraceArg args[3];
};

class Lane {
 public:
  explicit Lane(std::string lane_name) : name(std::move(lane_name)) {}

  // By the owning thread. The first event of a new trace empties the lane.
  void add(std::uint32_t trace, std::size_t limit, const TraceEvent& event);

  // By others, while no new trace can begin: how many events of `trace` may be read, and which.
  std::size_t size(std::uint32_t trace) const;
  std::size_t dropped(std::uint32_t trace) const;
  const TraceEvent& operator[](std::size_t i) const {
    return (*blocks_[i / kBlockEvents])[i % kBlockEvents];
  }

  std::string name;          // guarded by the mutex of the list of lanes (trace.cc)
  bool thread_lives = true;  // likewise

 private:
  static constexpr std::size_t kBlockEvents = 4096, kBlocks = 256;  // a million events
  using Block = std::array<TraceEvent, kBlockEvents>;

  // A block is allocated when first needed and kept; its pointer is published with size_.
  std::array<std::unique_ptr<Block>, kBlocks> blocks_;
  std::atomic<std::uint32_t> trace_ =
      0;  // whose events these are; stored after the others are zero
  std::atomic<std::size_t> size_ = 0, dropped_ = 0;
};

}  // namespace serving

#include "serving/trace/lane.h"

#include <algorithm>

namespace serving {

void Lane::add(std::uint32_t trace, std::size_t limit, const TraceEvent& event) {
  if (trace_.load(std::memory_order_relaxed) != trace) {
    size_.store(0, std::memory_order_relaxed);
    dropped_.store(0, std::memory_order_relaxed);
    trace_.store(trace, std::memory_order_release);
  }
  const std::size_t size = size_.load(std::memory_order_relaxed);
  if (size >= std::min(limit, kBlockEvents * kBlocks)) {
    dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  std::unique_ptr<Block>& block = blocks_[size / kBlockEvents];
  if (block == nullptr) block = std::make_unique_for_overwrite<Block>();
  (*block)[size % kBlockEvents] = event;
  size_.store(size + 1, std::memory_order_release);
}

std::size_t Lane::size(std::uint32_t trace) const {
  if (trace_.load(std::memory_order_acquire) != trace) return 0;
  return size_.load(std::memory_order_acquire);
}

std::size_t Lane::dropped(std::uint32_t trace) const {
  if (trace_.load(std::memory_order_acquire) != trace) return 0;
  return dropped_.load(std::memory_order_relaxed);
}

}  // namespace serving

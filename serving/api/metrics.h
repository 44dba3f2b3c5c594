// What /metrics shows: the engine's counters and what the API adds, in Prometheus' text format
// (exposition format 0.0.4). Counting is a few relaxed additions; any thread may do it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "serving/engine/engine.h"

namespace serving {

class Histogram {
 public:
  static constexpr std::array<double, 12> kBounds_s = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                       0.1,   0.25,   0.5,   1,    5,     30};
  void add(double seconds);
  // Appends the series of one histogram.
  void write(std::string& out, const std::string& name, const std::string& help) const;

 private:
  std::array<std::atomic<std::uint64_t>, kBounds_s.size() + 1> counts_{};
  std::atomic<std::uint64_t> sum_ns_ = 0;
};

class Metrics {
 public:
  void answered(int status);  // one completion request
  void disconnected() { disconnects_.fetch_add(1, std::memory_order_relaxed); }

  Histogram time_to_first_token;  // from the whole request's arrival to the first token
  Histogram request_time;         // to the end of the answer

  std::string text(const EngineStats& engine, int answering) const;

 private:
  std::atomic<std::uint64_t> ok_ = 0, refused_ = 0, overloaded_ = 0, failed_ = 0, disconnects_ = 0;
};

}  // namespace serving

// The counters of a timed op, the same on every device.
#pragma once

#include <benchmark/benchmark.h>

#include "kernels/lab/bench.h"

namespace kernels {

inline void count_work(benchmark::State& state, const Work& work) {
  using benchmark::Counter;
  constexpr auto kRate = Counter::kIsIterationInvariantRate;
  state.counters["flops"] = work.flops;
  state.counters["bytes"] = work.bytes;
  state.counters["flops_per_s"] = Counter(work.flops, kRate);
  state.counters["bytes_per_s"] = Counter(work.bytes, kRate);
}

}  // namespace kernels

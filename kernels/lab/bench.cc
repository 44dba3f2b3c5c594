#include "kernels/lab/bench.h"

#include <benchmark/benchmark.h>

namespace kernels {

void register_timed(const std::string& name, Work work, std::function<void()> call) {
  call();  // the warm-up
  benchmark::RegisterBenchmark(name.c_str(),
                               [work, call = std::move(call)](benchmark::State& state) {
                                 for ([[maybe_unused]] auto once : state) {
                                   call();
                                   benchmark::ClobberMemory();
                                 }
                                 using benchmark::Counter;
                                 constexpr auto kRate = Counter::kIsIterationInvariantRate;
                                 state.counters["flops"] = work.flops;
                                 state.counters["bytes"] = work.bytes;
                                 state.counters["flops_per_s"] = Counter(work.flops, kRate);
                                 state.counters["bytes_per_s"] = Counter(work.bytes, kRate);
                               });
}

}  // namespace kernels

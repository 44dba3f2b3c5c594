#include "kernels/lab/cuda_ops.h"

#include <benchmark/benchmark.h>

#include "kernels/lab/work_counters.h"

namespace kernels {

void register_device_timed(const std::string& name, Work work, std::function<float()> call_ms) {
  for (int i = 0; i < 8; ++i) call_ms();  // the warm-up
  benchmark::RegisterBenchmark(name.c_str(), [work, call_ms = std::move(call_ms)](
                                                 benchmark::State& state) {
    for ([[maybe_unused]] auto once : state) state.SetIterationTime(call_ms() * 1e-3);
    count_work(state, work);
  })->UseManualTime();
}

}  // namespace kernels

#include "kernels/lab/bench.h"

#include <benchmark/benchmark.h>

#include "kernels/lab/work_counters.h"

namespace kernels {

void register_timed(const std::string& name, Work work, std::function<void()> call) {
  call();  // the warm-up
  benchmark::RegisterBenchmark(name.c_str(),
                               [work, call = std::move(call)](benchmark::State& state) {
                                 for ([[maybe_unused]] auto once : state) {
                                   call();
                                   benchmark::ClobberMemory();
                                 }
                                 count_work(state, work);
                               });
}

}  // namespace kernels

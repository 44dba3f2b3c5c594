// How the ops of the engine are timed: one call is one iteration, its work counted exactly.
#pragma once

#include <functional>
#include <string>

namespace kernels {

// Of one call. Bytes are those of tensors read and written, from whichever cache.
struct Work {
  double flops = 0;
  double bytes = 0;
};

// Registers `name` with Google Benchmark; counters: flops, bytes (per call, exact), and the rates
// flops_per_s, bytes_per_s.
void register_timed(const std::string& name, Work work, std::function<void()> call);

}  // namespace kernels

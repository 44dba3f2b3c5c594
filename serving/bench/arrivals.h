// When the requests of an open loop arrive, as vLLM's serving benchmark draws it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace serving::bench {

struct ArrivalOptions {
  double rate_per_s = 0;  // 0: all at once, as a closed loop takes them
  double burstiness = 1;  // shape of the gamma distribution of gaps; 1: Poisson, less: in bursts
};

// Seconds from the start, ascending. Gaps are drawn with mean 1 / rate; their sums are then
// stretched so that the last request comes at exactly count / rate: rates of runs compare exactly.
std::vector<double> draw_arrivals(const ArrivalOptions& options, std::size_t count,
                                  std::mt19937_64& random);

}  // namespace serving::bench

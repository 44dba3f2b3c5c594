// Time and exact counts of one variant, as Google Benchmark reports them.
#pragma once

#include <cstdint>

#include "kernels/kda_decode/counters.h"
#include "kernels/kda_decode/variants.h"

namespace kernels::kda_decode {

// Counted over one whole ring from an empty one (the average over the ring's fill), per token and
// head.
struct CountsPerToken {
  double norms, gates, exps, bytes;
};
CountsPerToken count_per_token(const Selection& selected, int batch, std::uint64_t seed);

// Registers the benchmark "kda_decode". One iteration is one token of one slot (all its heads), so
// that real_time is ns per token at every batch. Throws std::invalid_argument on bad sizes.
void register_bench(const Selection& selected, int batch, std::uint64_t seed);

}  // namespace kernels::kda_decode

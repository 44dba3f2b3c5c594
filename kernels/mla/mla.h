// Multi-head latent attention in absorbed form (DeepSeek-V2): a position keeps one latent of `rank`
// and one rotary part of `rope_dim`, shared by all heads; queries come already multiplied by the
// keys' up projection, outputs go to the values' one. Scores are q . (latent, rope part), values
// are the latent. Reduction order as in kernels/attention: groups of 16 positions from position 0.
#pragma once

#include "kernels/cache/cache.h"

namespace kernels::mla {

struct Shape {
  int heads = 1;
  int rank = 0;      // of the latent
  int rope_dim = 0;  // may be 0
  float scale = 1;
};

std::size_t scratch_floats(const Shape& shape);

// q [tokens, heads, rank + rope_dim] -> out [tokens, heads, rank]; `latents` has Order::rows, one
// head of dim rank + rope_dim, and already holds the tokens themselves. A call reads the cache once
// for all its heads (blocks of 32 query rows).
void attend(const Shape& shape, const cache::Pages& latents, const std::int32_t* table,
            int position, Range tokens, Range heads, const float* q, float* out, float* scratch);

}  // namespace kernels::mla

// Causal attention over a paged cache: tokens at `position` + t of one sequence attend to all
// positions up to their own. Softmax runs online, group by group of 16 positions from position 0,
// so that a result depends on the position alone. Prefill and decode are the same function; tokens
// and the query heads of a key head share each read of the cache.
#pragma once

#include "kernels/cache/cache.h"

namespace kernels::attention {

struct Shape {
  int heads = 1;     // of queries; head h reads key head h * kv_heads / heads
  int kv_heads = 1;  // divides heads
  int key_dim = 0;
  int value_dim = 0;
  float scale = 1;  // of the scores, before softmax
};

std::size_t scratch_floats(const Shape& shape);

// q [tokens, heads, key_dim] -> out [tokens, heads, value_dim], for the query heads of `kv_heads`
// and `tokens`, counted from the first at `position`. `keys` has Order::columns, `values`
// Order::rows; both already hold the tokens themselves. `scratch` holds scratch_floats(), 64-byte
// aligned.
void attend(const Shape& shape, const cache::Pages& keys, const cache::Pages& values,
            const std::int32_t* table, int position, Range tokens, Range kv_heads, const float* q,
            float* out, float* scratch);

}  // namespace kernels::attention

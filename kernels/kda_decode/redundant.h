// The loop that v1 and v2 share: every V tile is a program of its own and makes its own plan.
#pragma once

#include "kernels/kda_decode/head_plan.h"
#include "kernels/kda_decode/value_tile.h"
#include "kernels/kda_decode/variants.h"

namespace kernels::kda_decode {

template <Norm kNorm, class Count>
void redundant(const Step& step, const Gate& gate, Cache& cache, int v_tile, float* o,
               Count count) {
  HeadPlan plan;
  for (int slot = 0; slot < cache.shape.batch; ++slot) {
    for (int head = 0; head < cache.shape.value_heads; ++head) {
      const ValueHead values = value_head(step, cache, slot, head, o);
      for (int begin = 0, width; begin < values.value_dim; begin += width) {
        width = tile_width(v_tile, values.value_dim - begin);
        make_plan<kNorm>(step, gate, cache, slot, head, plan, count);
        run_tile(plan, values, begin, width, count);
        const bool first = begin == 0;
        if (first && !values.flush) append_key_and_gate(cache, slot, head, plan, count);
      }
    }
  }
  advance(step, cache);
}

template <Norm kNorm>
constexpr Variant redundant_variant(const char* what) {
  return {what,
          [](const Step& step, const Gate& gate, Cache& cache, int v_tile, float* o) {
            redundant<kNorm>(step, gate, cache, v_tile, o, NoCount{});
          },
          [](const Step& step, const Gate& gate, Cache& cache, int v_tile, float* o,
             Counters& counters) {
            redundant<kNorm>(step, gate, cache, v_tile, o, Counting{&counters});
          }};
}

}  // namespace kernels::kda_decode

// v3: the V tiles merged. Norm, gate and replay weights are made once a head; v_tile only says how
// many columns of the state are held in registers at a time.
#include "kernels/kda_decode/head_plan.h"
#include "kernels/kda_decode/value_tile.h"
#include "kernels/kda_decode/variants.h"

namespace kernels::kda_decode {
namespace {

template <class Count>
void merged(const Step& step, const Gate& gate, Cache& cache, int v_tile, float* o, Count count) {
  HeadPlan plan;
  for (int slot = 0; slot < cache.shape.batch; ++slot) {
    for (int head = 0; head < cache.shape.value_heads; ++head) {
      const ValueHead values = value_head(step, cache, slot, head, o);
      make_plan<Norm::rsqrt>(step, gate, cache, slot, head, plan, count);
      for (int begin = 0, width; begin < values.value_dim; begin += width) {
        width = tile_width(v_tile, values.value_dim - begin);
        run_tile(plan, values, begin, width, count);
      }
      if (!values.flush) append_key_and_gate(cache, slot, head, plan, count);
    }
  }
  advance(step, cache);
}

void merged_step(const Step& step, const Gate& gate, Cache& cache, int v_tile, float* o) {
  merged(step, gate, cache, v_tile, o, NoCount{});
}
void merged_counted(const Step& step, const Gate& gate, Cache& cache, int v_tile, float* o,
                    Counters& counters) {
  merged(step, gate, cache, v_tile, o, Counting{&counters});
}

}  // namespace

const Variant kReplayMerged = {"v2 with norm, gate and replay weights once a head", merged_step,
                               merged_counted};

}  // namespace kernels::kda_decode

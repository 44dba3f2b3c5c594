// v0: the recurrence of shape.h as it stands, the state read and written each token. No rings, no
// tiles (v_tile is ignored). It leaves nothing waiting, so every step is a flush.
#include <algorithm>
#include <cmath>

#include "kernels/kda_decode/simd.h"
#include "kernels/kda_decode/variants.h"

namespace kernels::kda_decode {
namespace {

struct Scratch {
  alignas(64) float key[kMaxKeyDim];
  alignas(64) float query[kMaxKeyDim];
  alignas(64) float decay[kMaxKeyDim];
};

template <class Count>
void prepare(const Step& step, const Gate& gate, const Cache& cache, int slot, int head,
             Scratch& out, Count count) {
  const Shape& s = cache.shape;
  const std::size_t key_at = (std::size_t(slot) * s.heads + s.key_head(head)) * s.key_dim;
  normalise<Norm::divide>(step.q + key_at, s.key_dim, 1.0f / std::sqrt(float(s.key_dim)), out.query,
                          count);
  normalise<Norm::divide>(step.k + key_at, s.key_dim, 1.0f, out.key, count);
  evaluate_gate(gate, head, step.x + cache.index(slot, head) * s.key_dim, s.key_dim, out.decay,
                count);
  for (int i = 0; i < s.key_dim; i += kLanes) {
    count.exps(kLanes);
    hn::StoreU(hn::Exp(kF, hn::LoadU(kF, out.decay + i)), kF, out.decay + i);
  }
}

// Two passes over the state of a head: S^T k of the decayed state, then update and S^T q.
template <class Count>
void update(const Scratch& scratch, const Shape& s, float* __restrict state,
            const float* __restrict v, float beta, float* __restrict d, float* __restrict o,
            Count count) {
  std::fill(d, d + s.value_dim, 0.0f);
  std::fill(o, o + s.value_dim, 0.0f);
  for (int i = 0; i < s.key_dim; ++i) {
    count.floats(s.value_dim);
    const float weight = scratch.decay[i] * scratch.key[i];
    const float* __restrict row = state + std::size_t(i) * s.value_dim;
    for (int c = 0; c < s.value_dim; ++c) d[c] += weight * row[c];
  }
  count.floats(s.value_dim + 1);
  for (int c = 0; c < s.value_dim; ++c) d[c] = beta * (v[c] - d[c]);
  for (int i = 0; i < s.key_dim; ++i) {
    count.floats(2 * s.value_dim);
    const float decay = scratch.decay[i];
    const float key = scratch.key[i];
    const float query = scratch.query[i];
    float* __restrict row = state + std::size_t(i) * s.value_dim;
    for (int c = 0; c < s.value_dim; ++c) {
      row[c] = decay * row[c] + key * d[c];
      o[c] += row[c] * query;
    }
  }
  count.floats(s.value_dim);
}

template <class Count>
void plain(const Step& step, const Gate& gate, Cache& cache, float* o, Count count) {
  const Shape& s = cache.shape;
  Scratch scratch;
  Floats d(s.value_dim);
  for (int slot = 0; slot < s.batch; ++slot) {
    for (int head = 0; head < s.value_heads; ++head) {
      const std::size_t at = cache.index(slot, head);
      prepare(step, gate, cache, slot, head, scratch, count);
      update(scratch, s, cache.state(slot, head), step.v + at * s.value_dim, step.beta[at],
             d.data(), o + at * s.value_dim, count);
    }
  }
}

void plain_step(const Step& step, const Gate& gate, Cache& cache, int, float* o) {
  plain(step, gate, cache, o, NoCount{});
}
void plain_counted(const Step& step, const Gate& gate, Cache& cache, int, float* o,
                   Counters& counters) {
  plain(step, gate, cache, o, Counting{&counters});
}

}  // namespace

const Variant kPlain = {"plain recurrence, state written each token", plain_step, plain_counted};

}  // namespace kernels::kda_decode

#include "kernels/short_conv/short_conv.h"

#include <algorithm>

#include "kernels/simd.h"

namespace kernels::short_conv {
namespace {

// Up to kLanes channels through all tokens, their four weights and three last inputs in registers.
// Load and Store know how many channels there are.
template <class Load, class Store>
void columns(const float* x, const float* weight, int stride, int count, float* state, float* y,
             Load load_some, Store store_some) {
  Vector w[kWidth];
  hn::LoadInterleaved4(kF, weight, w[0], w[1], w[2], w[3]);
  Vector past[kWidth - 1];
  for (int i = 0; i < kWidth - 1; ++i) past[i] = load_some(state + std::size_t(i) * stride);
  for (int t = 0; t < count; ++t) {
    const Vector now = load_some(x + std::size_t(t) * stride);
    Vector sum = hn::Mul(w[0], past[0]);
    sum = hn::MulAdd(w[1], past[1], sum);
    sum = hn::MulAdd(w[2], past[2], sum);
    sum = hn::MulAdd(w[3], now, sum);
    store_some(silu(sum), y + std::size_t(t) * stride);
    past[0] = past[1];
    past[1] = past[2];
    past[2] = now;
  }
  for (int i = 0; i < kWidth - 1; ++i) store_some(past[i], state + std::size_t(i) * stride);
}

}  // namespace

void forward(const float* x, const float* weight, int layer_channels, int count, Range channels,
             float* state, float* y) {
  int c = channels.begin;
  for (; c + kLanes <= channels.end; c += kLanes) {
    columns(
        x + c, weight + std::size_t(c) * kWidth, layer_channels, count, state + c, y + c,
        [](const float* p) { return load(p); }, [](Vector v, float* p) { store(v, p); });
  }
  const int left = channels.end - c;
  if (left <= 0) return;
  alignas(64) float padded[kLanes * kWidth] = {};
  std::copy_n(weight + std::size_t(c) * kWidth, left * kWidth, padded);
  columns(
      x + c, padded, layer_channels, count, state + c, y + c,
      [=](const float* p) { return load_tail(p, left); },
      [=](Vector v, float* p) { store_tail(v, p, left); });
}

}  // namespace kernels::short_conv

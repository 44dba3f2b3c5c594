// Vectors of the ops: up to 16 fp32 lanes of the one instruction set that the build asks for. All
// sums are spelt out (MulAdd, a fixed tree over lanes) and the ops are compiled without
// contraction, so that a compiler cannot round one blocking of a loop differently from another.
#pragma once

#define HWY_COMPILE_ONLY_STATIC
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cstring>

namespace kernels {

namespace hn = hwy::HWY_NAMESPACE;
inline constexpr hn::CappedTag<float, 16> kF{};
inline constexpr int kLanes = int(hn::MaxLanes(kF));
using Vector = hn::Vec<decltype(kF)>;
static_assert(16 % kLanes == 0, "groups and chunks of 16 are whole vectors");

inline Vector load(const float* p) { return hn::LoadU(kF, p); }
inline void store(Vector v, float* p) { hn::StoreU(v, kF, p); }
inline Vector set(float value) { return hn::Set(kF, value); }

// The last `count` < kLanes elements, padded with zeros; nothing beyond them is touched.
inline Vector load_tail(const float* p, int count) {
  alignas(64) float lanes[kLanes] = {};
  std::memcpy(lanes, p, std::size_t(count) * sizeof(float));
  return hn::Load(kF, lanes);
}
inline void store_tail(Vector v, float* p, int count) {
  alignas(64) float lanes[kLanes];
  hn::Store(v, kF, lanes);
  std::memcpy(p, lanes, std::size_t(count) * sizeof(float));
}

inline float sum_of_lanes(Vector v) { return hn::GetLane(hn::SumOfLanes(kF, v)); }

// y[i] = f(xs[i]...), tails by the same vector operations, so that a cut never changes a bit.
template <class F, class... Xs>
void map(std::size_t size, float* y, F f, const Xs*... xs) {
  std::size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) store(f(load(xs + i)...), y + i);
  const int left = int(size - i);
  if (left > 0) store_tail(f(load_tail(xs + i, left)...), y + i, left);
}

// Highway's functions take a NaN for a number: a poisoned input would give a plausible output.
inline Vector keep_nan(Vector x, Vector y) { return hn::IfThenElse(hn::IsNaN(x), x, y); }

inline Vector exp(Vector x) { return keep_nan(x, hn::Exp(kF, x)); }

// Through exp(-|z|), which neither overflows nor cancels.
inline Vector sigmoid(Vector z) {
  const Vector e = hn::Exp(kF, hn::Neg(hn::Abs(z)));
  const Vector one = set(1.0f);
  const Vector above = hn::IfThenElse(hn::Lt(z, hn::Zero(kF)), e, one);
  return keep_nan(z, hn::Div(above, hn::Add(one, e)));
}
inline Vector silu(Vector z) { return hn::Mul(z, sigmoid(z)); }
inline Vector softplus(Vector z) {
  const Vector tail = hn::Log1p(kF, hn::Exp(kF, hn::Neg(hn::Abs(z))));
  return keep_nan(z, hn::Add(hn::Max(z, hn::Zero(kF)), tail));
}

}  // namespace kernels

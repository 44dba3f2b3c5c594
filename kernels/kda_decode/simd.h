// Vector pieces of a head: normalise, gate. Compiled for one instruction set, the one the build
// asks for.
#pragma once

#define HWY_COMPILE_ONLY_STATIC
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/kda_decode/shape.h"

namespace kernels::kda_decode {

namespace hn = hwy::HWY_NAMESPACE;
inline constexpr hn::CappedTag<float, kLanePad> kF{};
inline constexpr int kLanes = int(hn::MaxLanes(kF));
using Vector = hn::Vec<decltype(kF)>;
static_assert(kLanePad % kLanes == 0, "K and V are padded to whole vectors");

enum class Norm { divide, rsqrt };

// out = scale x / sqrt(sum x^2 + 1e-6), as CASES' KDA has it. `divide` does what the formula says,
// a division an element; `rsqrt` multiplies by one reciprocal root (estimate and two Newton steps,
// since the estimate may have as few as 11 bits).
template <Norm kNorm, class Count>
void normalise(const float* x, int size, float scale, float* out, Count count) {
  count.norm();
  Vector squares = hn::Zero(kF);
  for (int i = 0; i < size; i += kLanes) {
    count.floats(kLanes);
    const Vector value = hn::LoadU(kF, x + i);
    squares = hn::MulAdd(value, value, squares);
  }
  const Vector sum = hn::Add(hn::SumOfLanes(kF, squares), hn::Set(kF, kNormEpsilon));
  const Vector factor = hn::Set(kF, scale);
  if constexpr (kNorm == Norm::divide) {
    const Vector root = hn::Sqrt(sum);
    for (int i = 0; i < size; i += kLanes) {
      hn::StoreU(hn::Mul(hn::Div(hn::LoadU(kF, x + i), root), factor), kF, out + i);
    }
  } else {
    const Vector half_sum = hn::Mul(sum, hn::Set(kF, 0.5f));
    Vector r = hn::ApproximateReciprocalSqrt(sum);
    for (int newton = 0; newton < 2; ++newton) {
      r = hn::Mul(r, hn::NegMulAdd(hn::Mul(half_sum, r), r, hn::Set(kF, 1.5f)));
    }
    r = hn::Mul(r, factor);
    for (int i = 0; i < size; i += kLanes) {
      hn::StoreU(hn::Mul(hn::LoadU(kF, x + i), r), kF, out + i);
    }
  }
}

// softplus(z) = max(z, 0) + log1p(exp(-|z|)): no overflow, and no cancellation where z is very
// negative.
inline Vector softplus(Vector z) {
  const Vector tail = hn::Log1p(kF, hn::Exp(kF, hn::Neg(hn::Abs(z))));
  return hn::Add(hn::Max(z, hn::Zero(kF)), tail);
}

inline Vector sigmoid(Vector z) {
  const Vector one = hn::Set(kF, 1.0f);
  return hn::Div(one, hn::Add(one, hn::Exp(kF, hn::Neg(z))));
}

// g[0..size) of one value head.
template <class Count>
void evaluate_gate(const Gate& gate, int head, const float* x, int size, float* g, Count count) {
  count.gate();
  count.exps(1);
  count.floats(1);
  const float* bias = gate.bias.data() + std::size_t(head) * size;
  const Vector rate = hn::Exp(kF, hn::Set(kF, gate.log_rate[head]));
  for (int i = 0; i < size; i += kLanes) {
    count.exps(kLanes);
    count.floats(2 * kLanes);
    const Vector z = hn::Add(hn::LoadU(kF, x + i), hn::LoadU(kF, bias + i));
    const Vector value = gate.form == GateForm::softplus
                             ? hn::Neg(hn::Mul(rate, softplus(z)))
                             : hn::Mul(hn::Set(kF, gate.lower_bound), sigmoid(hn::Mul(rate, z)));
    hn::StoreU(value, kF, g + i);
  }
}

}  // namespace kernels::kda_decode

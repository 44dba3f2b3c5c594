#include "kernels/norm/norm.h"

#include <cmath>

#include "kernels/simd.h"

namespace kernels::norm {
namespace {

// Two chains of sums, so that an addition need not wait for the one before.
float sum_of_squares(const float* x, int dim) {
  Vector even = hn::Zero(kF);
  Vector odd = hn::Zero(kF);
  int i = 0;
  for (; i + 2 * kLanes <= dim; i += 2 * kLanes) {
    const Vector a = load(x + i);
    const Vector b = load(x + i + kLanes);
    even = hn::MulAdd(a, a, even);
    odd = hn::MulAdd(b, b, odd);
  }
  if (i + kLanes <= dim) {
    const Vector a = load(x + i);
    even = hn::MulAdd(a, a, even);
    i += kLanes;
  }
  if (i < dim) {
    const Vector b = load_tail(x + i, dim - i);
    odd = hn::MulAdd(b, b, odd);
  }
  return sum_of_lanes(hn::Add(even, odd));
}

void scale_row(const float* x, float factor, int dim, float* y) {
  map(
      std::size_t(dim), y, [=](Vector v) { return hn::Mul(v, set(factor)); }, x);
}

}  // namespace

void rms_norm(const float* x, const float* weight, float epsilon, int dim, Range rows, float* y) {
  for (int r = rows.begin; r < rows.end; ++r) {
    const float* from = x + std::size_t(r) * dim;
    float* to = y + std::size_t(r) * dim;
    const float factor = 1.0f / std::sqrt(sum_of_squares(from, dim) / float(dim) + epsilon);
    if (!weight) {
      scale_row(from, factor, dim, to);
      continue;
    }
    map(
        std::size_t(dim), to,
        [=](Vector v, Vector w) { return hn::Mul(hn::Mul(v, set(factor)), w); }, from, weight);
  }
}

void l2_norm(const float* x, float epsilon, float scale, int dim, Range rows, float* y) {
  for (int r = rows.begin; r < rows.end; ++r) {
    const float* from = x + std::size_t(r) * dim;
    const float factor = scale / std::sqrt(sum_of_squares(from, dim) + epsilon);
    scale_row(from, factor, dim, y + std::size_t(r) * dim);
  }
}

}  // namespace kernels::norm

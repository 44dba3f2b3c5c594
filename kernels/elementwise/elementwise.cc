#include "kernels/elementwise/elementwise.h"

#include "kernels/simd.h"

namespace kernels::elementwise {

void silu_multiply(const float* gate, const float* up, std::size_t size, float* y) {
  map(
      size, y, [](Vector g, Vector u) { return hn::Mul(silu(g), u); }, gate, up);
}

void sigmoid_multiply(const float* x, const float* gate, std::size_t size, float* y) {
  map(
      size, y, [](Vector v, Vector g) { return hn::Mul(v, kernels::sigmoid(g)); }, x, gate);
}

void sigmoid(const float* x, std::size_t size, float* y) {
  map(
      size, y, [](Vector v) { return kernels::sigmoid(v); }, x);
}

void softplus(const float* x, std::size_t size, float* y) {
  map(
      size, y, [](Vector v) { return kernels::softplus(v); }, x);
}

void add(const float* x, std::size_t size, float* y) {
  map(
      size, y, [](Vector a, Vector b) { return hn::Add(a, b); }, y, x);
}

void add_scaled(const float* x, float scale, std::size_t size, float* y) {
  map(
      size, y, [=](Vector a, Vector b) { return hn::MulAdd(set(scale), b, a); }, y, x);
}

namespace {

// One pass over [tokens, heads, dim] with the head's rate, bias or none.
template <class Gate>
void each_head(const float* x, const float* bias, const float* rate, int heads, int dim,
               Range tokens, float* g, Gate gate) {
  for (int t = tokens.begin; t < tokens.end; ++t) {
    for (int h = 0; h < heads; ++h) {
      const std::size_t at = (std::size_t(t) * heads + h) * dim;
      const Vector r = set(rate[h]);
      if (bias) {
        const auto biased = [=](Vector v, Vector b) { return gate(hn::Add(v, b), r); };
        map(std::size_t(dim), g + at, biased, x + at, bias + std::size_t(h) * dim);
      } else {
        map(
            std::size_t(dim), g + at, [=](Vector v) { return gate(v, r); }, x + at);
      }
    }
  }
}

}  // namespace

void kda_gate(const float* x, const float* bias, const float* rate, int heads, int dim,
              Range tokens, float* g) {
  each_head(x, bias, rate, heads, dim, tokens, g,
            [](Vector z, Vector r) { return hn::Neg(hn::Mul(r, kernels::softplus(z))); });
}

void kda_gate_bounded(const float* x, const float* bias, const float* rate, float bound, int heads,
                      int dim, Range tokens, float* g) {
  each_head(x, bias, rate, heads, dim, tokens, g, [=](Vector z, Vector r) {
    return hn::Mul(set(bound), kernels::sigmoid(hn::Mul(r, z)));
  });
}

}  // namespace kernels::elementwise

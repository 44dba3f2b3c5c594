// Small functions of one element. `size` counts elements; the output may be any of the inputs.
#pragma once

#include "kernels/tensor.h"

namespace kernels::elementwise {

// y = silu(gate) * up, silu(z) = z sigmoid(z).
void silu_multiply(const float* gate, const float* up, std::size_t size, float* y);

// y = x * sigmoid(gate).
void sigmoid_multiply(const float* x, const float* gate, std::size_t size, float* y);

void sigmoid(const float* x, std::size_t size, float* y);

// log(1 + exp(x)), without overflow.
void softplus(const float* x, std::size_t size, float* y);

// y += x, and y += scale * x.
void add(const float* x, std::size_t size, float* y);
void add_scaled(const float* x, float scale, std::size_t size, float* y);

// KDA's gate, the log of the decay, for each of `tokens` (CASES.md, "KDA"):
//   softplus: g = -rate[h] softplus(x + bias);  bounded: g = bound sigmoid(rate[h] (x + bias))
// with rate = exp(A). x, g [tokens, heads, dim]; bias [heads, dim], or null for zeros; rate
// [heads].
void kda_gate(const float* x, const float* bias, const float* rate, int heads, int dim,
              Range tokens, float* g);
void kda_gate_bounded(const float* x, const float* bias, const float* rate, float bound, int heads,
                      int dim, Range tokens, float* g);

}  // namespace kernels::elementwise

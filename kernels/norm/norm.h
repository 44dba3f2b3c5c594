// Normalisations over the last dimension. The sum of a row is taken in an order that depends on
// `dim` only.
#pragma once

#include "kernels/tensor.h"

namespace kernels::norm {

// y[r] = x[r] / sqrt(mean(x[r]^2) + epsilon) * weight, rows of `dim`; weight [dim], or null for
// ones. y may be x.
void rms_norm(const float* x, const float* weight, float epsilon, int dim, Range rows, float* y);

// y[r] = x[r] / sqrt(sum(x[r]^2) + epsilon) * scale. y may be x.
void l2_norm(const float* x, float epsilon, float scale, int dim, Range rows, float* y);

}  // namespace kernels::norm

// Depthwise causal convolution along the sequence, then silu: the short convolution before KDA.
#pragma once

#include "kernels/tensor.h"

namespace kernels::short_conv {

inline constexpr int kWidth = 4;

// y[t, c] = silu(sum_w weight[c, w] x[t - 3 + w, c]) for `tokens` of one sequence and some
// `channels`; x, y [tokens, channels of the layer], weight [channels of the layer, 4] (GGUF's
// layout), and state [3, channels of the layer]: the three inputs before tokens.begin, oldest first
// (zeros before the sequence), advanced in place. x and y must not overlap.
void forward(const float* x, const float* weight, int layer_channels, int tokens, Range channels,
             float* state, float* y);

}  // namespace kernels::short_conv

// Depthwise causal convolution along the sequence, then silu: the short convolution before KDA.
#pragma once

#include "kernels/tensor.h"

namespace kernels::short_conv {

inline constexpr int kWidth = 4;

// y[t, c] = silu(sum_w weight[c, w] x[t - 3 + w, c]) for the first `count` tokens of x, one
// sequence's, and `channels` of the layer's. x, y [count, layer_channels]; weight [layer_channels,
// 4], as GGUF has it; state [3, layer_channels], the three inputs before x[0], oldest first (zeros
// before the sequence), advanced in place. x and y do not overlap.
void forward(const float* x, const float* weight, int layer_channels, int count, Range channels,
             float* state, float* y);

}  // namespace kernels::short_conv

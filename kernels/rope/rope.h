// Rotary position embedding: pairs of a head's elements turn by position * frequency.
#pragma once

#include "kernels/tensor.h"

namespace kernels::rope {

// Which elements make pair i: adjacent (GGUF's "norm"): 2i, 2i + 1;  half ("neox"): i, i + dims
// / 2.
enum class Pairing { adjacent, half };

// frequency[i] = scale * base^(-2i / dims) / factors[i], i < dims / 2; `factors` may be null for
// ones. `scale` is one over the factor of linear scaling. Made once a model, in double: an fp32
// frequency would be off by 6e-3 rad at position 100,000.
void frequencies(float base, float scale, const float* factors, int dims, double* frequency);

// YaRN (Peng et al. 2023): interpolates by 1 / factor what turns less than once in
// `original_context` positions, leaves alone what turns more than 32 times, blends in between.
// Gives the magnitude that cosines and sines are multiplied by, 1 + 0.1 ln(factor).
float yarn_frequencies(float base, float factor, int original_context, int dims, double* frequency);

// Cosines, then sines, of all pairs for each position: angles [tokens, 2, dims / 2], times
// `magnitude`. All layers of a pass share them.
void angles(const double* frequency, float magnitude, const std::int32_t* positions, int dims,
            Range tokens, float* out);

// Elements first .. first + dims of each head of `head_dim` turn; dims is even.
struct Shape {
  int heads = 1;
  int head_dim = 0;
  int first = 0;
  int dims = 0;
};

// Turns x [tokens, heads, head_dim] in place.
void rotate(const Shape& shape, Pairing pairing, const float* angles, Range tokens, float* x);

}  // namespace kernels::rope

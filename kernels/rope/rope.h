// Rotary position embedding: pairs of a head's first `dims` elements turn by position * frequency.
#pragma once

#include "kernels/tensor.h"

namespace kernels::rope {

// Which elements make pair i: adjacent (GGUF's "norm"): 2i, 2i + 1;  half ("neox"): i, i + dims
// / 2.
enum class Pairing { adjacent, half };

// frequency[i] = scale * base^(-2i / dims) / factors[i], i < dims / 2; `factors` may be null for
// ones. `scale` is one over the factor of linear scaling. Made once a model.
void frequencies(float base, float scale, const float* factors, int dims, float* frequency);

// YaRN (Peng et al. 2023): interpolates by 1 / factor what turns less than once in
// `original_context` and leaves alone what turns more than 32 times. Gives the magnitude that cos
// and sin are multiplied by.
float yarn_frequencies(float base, float factor, int original_context, int dims, float* frequency);

// Cosine and sine of every pair for each position: angles [tokens, dims / 2, 2], times `magnitude`.
// Angles are taken in double, so that long contexts stay exact. Shared by all layers of a pass.
void angles(const float* frequency, float magnitude, const std::int32_t* positions, int dims,
            Range tokens, float* out);

// Turns x [tokens, heads, stride_dim] in place; elements `first` .. `first + dims` of each head.
struct Shape {
  int heads = 1;
  int head_dim = 0;  // elements a head
  int first = 0;     // of a head, where the turned part starts
  int dims = 0;      // of a head, how many turn; even
};
void rotate(const Shape& shape, Pairing pairing, const float* angles, Range tokens, float* x);

}  // namespace kernels::rope

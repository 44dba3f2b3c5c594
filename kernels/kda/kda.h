// Kimi Delta Attention for any number of tokens, prefill and decode alike (CASES.md, "KDA"). Per
// head,
//   S <- Diag(exp g) S;  d = beta (v - S^T k);  S <- S + k d^T;  o = S^T q
// computed in chunks of 16 positions: the chunkwise form, its triangular system solved row by row.
//
// Bit-identical however a prompt is cut, and decode as prefill: chunks begin at multiples of 16 of
// the *position*. Between two calls the state keeps the S of its chunk's start and the records
// (decayed key, corrected value d) since then, from which the next token continues exactly; S is
// written once a chunk.
#pragma once

#include "kernels/tensor.h"

namespace kernels::kda {

inline constexpr int kChunk = 16;

struct Shape {
  int heads = 1;
  int key_dim = 0;    // multiple of 16
  int value_dim = 0;  // multiple of 16
};

// What a sequence keeps, fp32: for each head S [K, V], decay since the chunk's start [K], keys
// [chunk, K], d [chunk, V]. All zeros is the state before position 0.
std::size_t state_floats(const Shape& shape);
std::size_t scratch_floats(const Shape& shape);

// fp32, for tokens of one sequence. q, k: L2-normalised, q also scaled by K^-1/2. g: log of the
// decay,
// <= 0. beta as it is used (after its sigmoid).
struct Tokens {
  const float* q = nullptr;     // [tokens, heads, K]
  const float* k = nullptr;     // [tokens, heads, K]
  const float* v = nullptr;     // [tokens, heads, V]
  const float* g = nullptr;     // [tokens, heads, K]
  const float* beta = nullptr;  // [tokens, heads]
};

// Advances the heads `heads` of `state` by `count` tokens, the first at `position` of the sequence
// (the number of tokens the state has seen); out [count, heads, V]. `state` and `scratch` are
// 64-byte aligned.
void forward(const Shape& shape, const Tokens& in, int count, int position, Range heads,
             float* state, float* out, float* scratch);

// The S of a head after `position` tokens, for checks: out [K, V].
void materialise(const Shape& shape, const float* state, int position, int head, float* out);

}  // namespace kernels::kda

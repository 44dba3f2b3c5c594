// The tensors of a model by their role, found by name and checked for shape once. Matrices are
// [outputs, inputs], the inputs contiguous; dims in comments are written in that order.
#pragma once

#include <variant>
#include <vector>

#include "serving/gguf/file.h"
#include "serving/model/config.h"

namespace serving::model {

using Weight = const gguf::Tensor*;  // null: the file has none, where that is allowed

struct AttentionWeights {
  Weight q, k, v;                 // [heads * key_dim, dim], [kv_heads * key_dim, dim], ...
  Weight q_bias, k_bias, v_bias;  // may be null
  Weight q_norm, k_norm;          // [key_dim] of each head, before the rotation; may be null
  Weight out, out_bias;           // [dim, heads * value_dim]; the bias may be null
};

// H = heads, D = head_dim.
struct KdaWeights {
  Weight q, k, v;                 // [H * D, dim]
  Weight conv_q, conv_k, conv_v;  // [H * D, width], the newest position last
  Weight f_a, f_b;                // [D, dim], [H * D, D]: input of the decay
  Weight beta;                    // [H, dim]
  Weight a;                       // [H], -exp(A_log)
  Weight dt_bias;                 // [H * D]
  Weight g_a, g_b;                // [D, dim], [H * D, D]: output gate
  Weight norm;                    // [D]
  Weight out;                     // [dim, H * D]
};

struct MlaWeights {
  Weight q;              // [heads * (nope + rope), dim]
  Weight kv_a, kv_norm;  // [rank + rope, dim], [rank]
  Weight k_b;            // [heads, rank, nope]: a query's nope part to the latent
  Weight v_b;            // [heads, value_dim, rank]
  Weight out;            // [dim, heads * value_dim]
};

struct DenseWeights {
  Weight gate, up, down;  // [ffn, dim], [ffn, dim], [dim, ffn]
};

struct ExpertWeights {
  Weight router, bias;    // [count, dim], [count]; the bias may be null
  Weight gate, up, down;  // [count, ...] of DenseWeights
  DenseWeights shared;    // null where shared_dim is 0
};

struct LayerWeights {
  Weight mixer_norm, ffn_norm;  // [dim]
  std::variant<AttentionWeights, KdaWeights, MlaWeights> mixer;
  std::variant<DenseWeights, ExpertWeights> ffn;
};

struct Weights {
  Weight embedding;     // [vocabulary, dim]
  Weight output;        // the same, or the embedding itself
  Weight output_norm;   // [dim]
  Weight rope_factors;  // [rope.dims / 2], frequencies are divided by it; may be null
  std::vector<LayerWeights> layers;
};

// Pointers into `file`. Errors: not_found, bad_input (names the tensor).
Result<Weights> bind_weights(const gguf::File& file, const Config& config);

}  // namespace serving::model

// The hyperparameters of a model, from its file's metadata, under the names that llama.cpp writes.
#pragma once

#include <string>
#include <vector>

#include "serving/core/result.h"
#include "serving/gguf/file.h"

namespace serving::model {

enum class LayerKind {
  attention,  // grouped-query attention with rotary positions
  kda,        // Kimi Delta Attention: a recurrent state
  mla,        // multi-head latent attention, no positions
};

struct Rope {
  bool adjacent = true;  // pairs are (2i, 2i+1); otherwise (i, i + dims/2)
  int dims = 0;          // of a head, those that turn
  float base = 10000;
  float scale = 1;  // of the frequencies: one over the factor of linear scaling
};

struct Kda {
  int head_dim = 0;  // of keys and of values
  int conv_width = 0;
};

struct Mla {
  int rank = 0;      // of the latent that all heads share
  int rope_dim = 0;  // of the part beside it, also shared; it does not turn in these models
  int nope_dim = 0;  // of a head's key that comes from the latent
  int value_dim = 0;
  int key_dim() const { return nope_dim + rope_dim; }
};

struct Experts {
  int count = 0;  // 0: none
  int used = 0;
  int dim = 0;         // of an expert
  int shared_dim = 0;  // of the expert that every token goes to; 0: none
  bool sigmoid = false;
  bool normalise = true;
  float scale = 1;
};

struct Config {
  std::string architecture;  // llama, qwen2, qwen3, kimi-linear
  std::string name;
  int vocabulary = 0;
  int context = 0;
  int dim = 0;
  float epsilon = 1e-5f;  // of every RMS norm
  int heads = 0;
  std::vector<LayerKind> layers;
  std::vector<int> kv_heads;  // a layer
  int key_dim = 0;            // of an attention head
  int value_dim = 0;
  float attention_scale = 1;
  Rope rope;
  Kda kda;
  Mla mla;
  int ffn_dim = 0;
  int dense_layers = 0;  // the first ones; the others have experts
  Experts experts;

  bool has(LayerKind kind) const;
};

// Errors: not_found, bad_input (names the key).
Result<Config> read_config(const gguf::File& file);

}  // namespace serving::model

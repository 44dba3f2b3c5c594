// Models of any size with random weights, as files that llama.cpp reads too: the test bed of the
// engine, and what it is measured with where no trained model is at hand.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "serving/core/result.h"
#include "serving/gguf/writer.h"

namespace serving::model {

struct ModelSpec {
  std::string architecture = "llama";  // or qwen2 (biases), qwen3 (q/k norms), kimi-linear
  int dim = 256;
  int layers = 4;
  int heads = 4;
  int kv_heads = 4;  // ignored by kimi-linear
  int head_dim = 0;  // 0: dim / heads. Of the KDA layers in kimi-linear, a multiple of 16
  int ffn = 768;
  int vocabulary = 512;  // at least kLeastVocabulary
  int context = 2048;
  bool tied = false;          // the embedding is the output matrix too; not in kimi-linear
  float rope_linear = 1;      // factor of linear rotary scaling; not in kimi-linear
  bool rope_factors = false;  // a divisor for each rotary frequency; not in kimi-linear
  gguf::TensorType type = gguf::TensorType::f32;  // of the matrices; the rest is F32
  std::uint64_t seed = 1;
  // kimi-linear only.
  int mla_every = 4;  // layers 3, 7, 11 ... are MLA, the others KDA
  int kv_rank = 64;
  int rope_dim = 16;
  int nope_dim = 32;
  int value_dim = 32;
  int dense_layers = 1;
  int experts = 8;
  int experts_used = 2;
  int expert_ffn = 128;
  int shared_experts = 1;
};

inline constexpr int kLeastVocabulary = 3 + 256 + 1;

// Metadata and tensors, without the values. Errors: bad_input (names the option).
Result<gguf::Plan> plan_model(const ModelSpec& spec);

// The values of one row; they depend on the seed, the tensor's name and the row alone.
void random_row(std::uint64_t seed, const gguf::PlannedTensor& tensor, std::uint64_t row,
                std::span<float> values);

// Row by row: the model need not fit into memory. Errors: bad_input, io.
Status make_model(const ModelSpec& spec, std::ostream& out);
Status make_model(const ModelSpec& spec, const std::string& path);

// `nightshift-serve make-model ...`: gives the exit status. In the library serving_make_model, so
// that nothing else waits for the command line's.
int make_model_command(int argc, char** argv);

}  // namespace serving::model

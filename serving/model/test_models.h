// Small self-made models, in memory.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "serving/gguf/file.h"
#include "serving/model/make_model.h"
#include "serving/model/model.h"

namespace serving::model {

// The file's bytes and what was read from them.
class MadeModel {
 public:
  explicit MadeModel(const ModelSpec& spec) : spec_(spec) {
    std::ostringstream out;
    const Status made = make_model(spec, out);
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    bytes_ = std::make_unique<std::string>(std::move(out).str());
    auto file = gguf::File::parse(std::as_bytes(std::span(*bytes_)));
    INFO((file ? "" : file.error().message));
    REQUIRE(file);
    file_ = std::make_unique<gguf::File>(std::move(*file));
  }
  const ModelSpec& spec() const { return spec_; }
  const gguf::File& file() const { return *file_; }
  const std::string& bytes() const { return *bytes_; }

  // All that is computed from this token becomes NaN, in every type.
  void poison(Token token) {
    const gguf::Tensor& embedding = *file_->find("token_embd.weight");
    const std::size_t row = gguf::row_bytes(embedding.type, embedding.columns());
    const auto* start = reinterpret_cast<const char*>(embedding.bytes.data());
    std::memset(bytes_->data() + (start - bytes_->data()) + row * std::size_t(token), 0xFF, row);
  }

 private:
  ModelSpec spec_;
  std::unique_ptr<std::string> bytes_;
  std::unique_ptr<gguf::File> file_;
};

// Odd sizes on purpose: nothing may rely on multiples of a vector.
inline ModelSpec random_spec(const std::string& architecture, std::mt19937& random) {
  const auto among = [&](std::initializer_list<int> values) {
    return values.begin()[random() % values.size()];
  };
  ModelSpec spec;
  spec.architecture = architecture;
  spec.seed = random();
  spec.kv_heads = among({1, 2, 3});
  spec.heads = spec.kv_heads * among({1, 2, 4});
  spec.head_dim = among({2, 6, 8, 18});
  spec.dim = among({24, 40, 56, 72});
  spec.ffn = among({17, 60, 100});
  spec.vocabulary = among({260, 301, 333});
  spec.context = 512;
  spec.layers = among({1, 2, 3});
  spec.tied = among({0, 1});
  spec.rope_factors = among({0, 1});
  spec.rope_linear = among({0, 1}) ? 2.5f : 1.0f;
  if (architecture == "kimi-linear") {
    spec.tied = spec.rope_factors = false;
    spec.rope_linear = 1;
    spec.heads = among({1, 2, 3});
    spec.head_dim = among({16, 32, 48});
    spec.layers = among({2, 3, 5});
    spec.mla_every = among({1, 2, 3});
    spec.kv_rank = among({8, 24, 33});
    spec.rope_dim = among({4, 7, 16});
    spec.nope_dim = among({5, 16, 20});
    spec.value_dim = among({6, 16, 19});
    spec.dense_layers = among({0, 1, 2});
    spec.experts = among({3, 8});
    spec.experts_used = among({1, 2, 3});
    spec.expert_ffn = among({9, 32});
    spec.shared_experts = among({0, 1, 2});
  }
  return spec;
}

inline std::vector<Token> random_tokens(int count, int vocabulary, std::mt19937& random) {
  std::vector<Token> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(Token(random() % unsigned(vocabulary)));
  return tokens;
}

}  // namespace serving::model

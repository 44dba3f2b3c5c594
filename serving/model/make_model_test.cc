#include "serving/model/make_model.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "serving/model/reference.h"
#include "serving/model/test_models.h"
#include "serving/tokenizer/make_tokenizer.h"

using namespace serving;
using namespace serving::model;

TEST_CASE("a self-made model of each architecture is read back and computes") {
  const std::string architecture = GENERATE("llama", "qwen2", "qwen3", "kimi-linear");
  const unsigned seed = 41;
  INFO("seed " << seed << " " << architecture);
  std::mt19937 random(seed);
  for (int i = 0; i < 3; ++i) {
    const MadeModel made(random_spec(architecture, random));
    auto reference = Reference::make(made.file());
    INFO((reference ? "" : reference.error().message));
    REQUIRE(reference);
    const auto tokens = random_tokens(9, made.spec().vocabulary, random);
    const Sequence logits = reference->logits(tokens);
    REQUIRE(logits.size() == tokens.size());
    double squares = 0;
    for (double logit : logits.back()) squares += logit * logit;
    const double rms = std::sqrt(squares / double(logits.back().size()));
    CHECK(rms > 0.1);
    CHECK(rms < 100);
    // What came later changes nothing; what came before does.
    CHECK(reference->logits(std::span(tokens).first(5)).back() == logits[4]);
    auto other = tokens;
    other[0] = (other[0] + 1) % made.spec().vocabulary;
    CHECK(reference->logits(other).back() != logits.back());
  }
}

TEST_CASE("the same seed gives the same file, another seed another, in every type") {
  ModelSpec spec;
  spec.dim = 64, spec.layers = 1, spec.ffn = 96,
  spec.type = GENERATE(gguf::TensorType::f32, gguf::TensorType::f16, gguf::TensorType::bf16,
                       gguf::TensorType::q8_0);
  INFO(gguf::name(spec.type));
  const MadeModel one(spec), two(spec);
  CHECK(one.bytes() == two.bytes());
  CHECK(one.file().find("output.weight")->type == spec.type);
  CHECK(one.file().find("output_norm.weight")->type == gguf::TensorType::f32);
  spec.seed = 2;
  CHECK(MadeModel(spec).bytes() != one.bytes());
}

TEST_CASE("the synthetic vocabulary has the size asked for and brings any bytes back") {
  ModelSpec spec;
  spec.dim = 32, spec.layers = 1, spec.vocabulary = GENERATE(260, 700, 2000);
  const MadeModel made(spec);
  auto tokenizer = make_tokenizer(made.file().metadata());
  REQUIRE(tokenizer);
  CHECK((*tokenizer)->vocabulary() == spec.vocabulary);
  const unsigned seed = 42;
  INFO("seed " << seed << ", vocabulary " << spec.vocabulary);
  std::mt19937 random(seed);
  for (int i = 0; i < 100; ++i) {
    std::string text;
    for (unsigned n = random() % 50; n > 0; --n) {
      text += random() % 2 ? char(random() % 256) : char('a' + random() % 3);
      if (random() % 5 == 0) text += ' ';
    }
    std::string back;
    for (Token token : (*tokenizer)->encode(text, false, false)) back += (*tokenizer)->bytes(token);
    REQUIRE(back == text);
  }
  const auto merged = (*tokenizer)->encode("abc abc abc", false, false);
  CHECK(merged.size() == (spec.vocabulary == 260 ? 11u : spec.vocabulary == 700 ? 6u : 3u));
}

TEST_CASE("a model that cannot be is refused by its option") {
  const auto refused = [](auto change) {
    ModelSpec spec;
    change(spec);
    auto plan = plan_model(spec);
    REQUIRE_FALSE(plan);
    return plan.error().message;
  };
  CHECK(refused([](ModelSpec& s) { s.architecture = "gpt"; }).find("--arch") == 0);
  CHECK(refused([](ModelSpec& s) { s.vocabulary = 259; }).find("--vocab: expected from 260") == 0);
  CHECK(refused([](ModelSpec& s) { s.kv_heads = 3; }).find("--heads: must be a multiple") == 0);
  CHECK(refused([](ModelSpec& s) { s.layers = 0; }).find("--layers") == 0);
  CHECK(refused([](ModelSpec& s) {
          s.architecture = "kimi-linear", s.head_dim = 24;
        }).find("--head-dim: of KDA") == 0);
}

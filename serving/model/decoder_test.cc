#include <cmath>
#include <iostream>

#include "kernels/matmul/matmul.h"
#include "serving/model/reference.h"
#include "serving/model/test_run.h"

using namespace serving;
using namespace serving::model;

namespace {

DecoderOptions small_options() {
  DecoderOptions options;
  options.threads = 2;
  options.most_batch_tokens = 64;
  options.most_chunks = 8;
  options.cache = {CacheType::f32, 24, 16, 6};
  return options;
}

// Largest distance, in units of the expected values' rms.
double relative_distance(const Vector& expected, const std::vector<float>& found) {
  double squares = 0, worst = 0;
  for (double e : expected) squares += e * e;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double distance = std::fabs(expected[i] - double(found[i]));
    worst = distance <= worst ? worst : distance;  // keeps a NaN
  }
  return worst / std::sqrt(squares / double(expected.size()));
}

}  // namespace

TEST_CASE("the model equals the fp64 reference, for random shapes of each architecture") {
  const std::string architecture = GENERATE("llama", "qwen2", "qwen3", "kimi-linear");
  const unsigned seed = 51;
  INFO("seed " << seed << " " << architecture);
  std::mt19937 random(seed);
  double worst = 0;
  for (int i = 0; i < 5; ++i) {
    INFO("model " << i);
    const MadeModel made(random_spec(architecture, random));
    auto reference = Reference::make(made.file());
    REQUIRE(reference);
    auto model = make_decoder(made, small_options());
    model->reset_slot(0);
    std::vector<Running> one = {
        {random_tokens(40, made.spec().vocabulary, random), {2, 0, 1}, 0, 0}};
    const Sequence expected = reference->logits(one[0].tokens);
    for (int count : {21, 1, 1, 13, 4}) {
      const auto logits = advance(*model, one, {count});
      const double distance = relative_distance(expected[one[0].done - 1], logits[0]);
      INFO("position " << one[0].done << ", off by " << distance);
      CHECK(distance < 1e-4);
      worst = std::max(worst, distance);
    }
  }
  std::cout << architecture << ": within " << worst << " of the reference\n";
}

namespace {

Vector softmax_of(const auto& logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  Vector p(logits.begin(), logits.end());
  double sum = 0;
  for (double& value : p) sum += value = std::exp(value - largest);
  for (double& value : p) value /= sum;
  return p;
}

// In nats; what is lost by believing `found` where `expected` is true.
double divergence(const Vector& expected, const std::vector<float>& found) {
  const Vector p = softmax_of(expected), q = softmax_of(found);
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += p[i] * std::log(p[i] / q[i]);
  return sum;
}

struct Narrow {
  gguf::TensorType type;
  CacheType cache;
  double
      against_itself;  // mean divergence from fp64 arithmetic on the same file: activations, cache
  double against_f32;  // and from the F32 file of the same seed: the weights' rounding too
};

}  // namespace

TEST_CASE("narrow weights and caches stay within their bounds") {
  const auto narrow = GENERATE(Narrow{gguf::TensorType::f16, CacheType::f32, 1e-9, 1e-5},
                               Narrow{gguf::TensorType::bf16, CacheType::f32, 5e-4, 1e-3},
                               Narrow{gguf::TensorType::q8_0, CacheType::f32, 2e-3, 4e-3},
                               Narrow{gguf::TensorType::f32, CacheType::f16, 1e-6, 1e-6},
                               Narrow{gguf::TensorType::f32, CacheType::i8, 5e-4, 5e-4});
  const std::string architecture = GENERATE("llama", "kimi-linear");
  ModelSpec spec;
  spec.architecture = architecture;
  spec.seed = 52;
  spec.dim = 128, spec.head_dim = 32, spec.ffn = 256, spec.vocabulary = 400;
  spec.dense_layers = spec.layers;  // a router's choice flips on any rounding, and tells little
  const MadeModel full(spec);
  spec.type = narrow.type;
  const MadeModel made(spec);
  auto truth = Reference::make(full.file()), itself = Reference::make(made.file());
  REQUIRE(truth);
  REQUIRE(itself);
  DecoderOptions options = small_options();
  options.cache.type = narrow.cache;
  options.isa = kernels::matmul::choose_isa(nullptr);
  auto model = make_decoder(made, options);
  std::mt19937 random(52);
  std::vector<Running> one = {{random_tokens(48, spec.vocabulary, random), {2, 0, 1}, 0, 0}};
  model->reset_slot(0);
  const Sequence expected = truth->logits(one[0].tokens), same = itself->logits(one[0].tokens);
  double from_itself = 0, from_f32 = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto logits = advance(*model, one, {1})[0];
    from_itself += divergence(same[i], logits) / double(expected.size());
    from_f32 += divergence(expected[i], logits) / double(expected.size());
  }
  INFO(architecture << " " << gguf::name(narrow.type) << ", cache " << int(narrow.cache));
  CHECK(from_itself < narrow.against_itself);
  CHECK(from_f32 < narrow.against_f32);
  std::cout << architecture << " " << gguf::name(narrow.type) << ", cache " << int(narrow.cache)
            << ": divergence " << from_itself << " from the same file, " << from_f32
            << " from F32\n";
}

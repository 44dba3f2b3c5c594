#include <cmath>
#include <iostream>

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

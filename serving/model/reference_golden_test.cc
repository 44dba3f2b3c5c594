#include <iostream>

#include "serving/model/reference.h"
#include "serving/model/test_golden.h"

using namespace serving;
using namespace serving::model;

// Forced along the expected tokens: every one must be the greedy choice.
TEST_CASE("the fp64 reference gives the golden tokens and probabilities") {
  const std::string name = GENERATE("stories260K", "kimi-tiny");
  const auto expected = golden(name);
  if (!expected) return;
  auto file = gguf::File::open(expected->model);
  REQUIRE(file);
  auto reference = Reference::make(*file);
  INFO((reference ? "" : reference.error().message));
  REQUIRE(reference);
  double worst = 0;
  for (const GoldenCase& c : expected->cases) {
    INFO(name << ": " << c.prompt);
    const Sequence logits = reference->logits(c.all_tokens(), c.tokens.size() - 1);
    for (std::size_t i = 0; i < c.steps.size(); ++i) {
      const double distance = compare_step(c.steps[i], logits[i]);
      INFO("step " << i << ", off by " << distance);
      CHECK(distance <= expected->tolerance);
      worst = std::max(worst, distance);
    }
  }
  std::cout << name << ": fp64 reference within " << worst << " of the golden probabilities\n";
}

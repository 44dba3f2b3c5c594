#include <iostream>

#include "serving/model/load_model.h"
#include "serving/model/test_golden.h"
#include "serving/model/test_run.h"

using namespace serving;
using namespace serving::model;

TEST_CASE("the model gives the golden tokens and probabilities: prefill, then token by token") {
  const std::string name = GENERATE("stories260K", "kimi-tiny");
  const auto expected = golden(name);
  if (!expected) return;
  LoadOptions options;
  options.threads = 2;
  options.pages = 8;
  options.slots = 2;
  auto loaded = load_model(expected->model, options);
  INFO((loaded ? "" : loaded.error().message));
  REQUIRE(loaded);
  double worst = 0;
  for (const GoldenCase& c : expected->cases) {
    INFO(name << ": " << c.prompt);
    loaded->model->reset_slot(1);
    std::vector<Running> one = {{c.all_tokens(), {3, 1, 6, 0, 5, 2}, 1, 0}};
    auto logits = advance(*loaded->model, one, {int(c.tokens.size())});
    for (std::size_t i = 0; i < c.steps.size(); ++i) {
      const double distance = compare_step(c.steps[i], logits[0]);
      INFO("step " << i << ", off by " << distance);
      CHECK(distance <= expected->tolerance);
      worst = std::max(worst, distance);
      logits = advance(*loaded->model, one, {1});
    }
  }
  std::cout << name << ": the model within " << worst << " of the golden probabilities\n";
}

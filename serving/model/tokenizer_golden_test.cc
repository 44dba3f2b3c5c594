#include "serving/gguf/file.h"
#include "serving/model/test_golden.h"
#include "serving/tokenizer/make_tokenizer.h"

using namespace serving;
using namespace serving::model;

TEST_CASE("the tokenizer of a real file gives the golden prompts' tokens and the answers' text") {
  const std::string name = GENERATE("stories260K", "kimi-tiny");
  const auto expected = golden(name);
  if (!expected) return;
  auto file = gguf::File::open(expected->model);
  REQUIRE(file);
  auto tokenizer = make_tokenizer(file->metadata());
  REQUIRE(tokenizer);
  for (const GoldenCase& c : expected->cases) {
    INFO(name << ": " << c.prompt);
    CHECK((*tokenizer)->encode(c.prompt, false, (*tokenizer)->adds_bos()) == c.tokens);
    auto decoder = (*tokenizer)->decoder();
    std::string text;
    for (const GoldenStep& step : c.steps) text += decoder->add(step.greedy);
    text += decoder->finish();
    // The golden text was decoded as a text of its own, which loses the space in front.
    CHECK((text.starts_with(' ') ? text.substr(1) : text) == c.text);
  }
}

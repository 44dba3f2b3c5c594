#include "serving/tokenizer/vocabulary.h"

#include <catch2/catch.hpp>
#include <functional>

#include "serving/tokenizer/test_vocabulary.h"

using namespace serving;

TEST_CASE("a vocabulary that contradicts itself is refused by key") {
  struct Case {
    const char* what;
    std::function<gguf::Metadata()> metadata;
    const char* message;
  };
  const auto changed = [](const char* key, const gguf::Value& value) {
    return [key, value] {
      gguf::Metadata m;
      m.insert(key, value);  // the first of two wins: insert refuses the second
      const gguf::Metadata whole = spm_metadata({"a"});
      for (const auto& [k, v] : whole.entries()) m.insert(k, v);
      return m;
    };
  };
  const std::vector<Case> cases = {
      {"no tokens", [] { return gguf::Metadata(); }, "'tokenizer.ggml.model' is missing"},
      {"other model", changed("tokenizer.ggml.model", std::string("bert")), "found 'bert'"},
      {"scores too few", changed("tokenizer.ggml.scores", gguf::Array(std::vector<float>{1})),
       "expected 261 scores"},
      {"kinds too few",
       changed("tokenizer.ggml.token_type", gguf::Array(std::vector<std::int32_t>{1})),
       "expected 261 kinds"},
      {"unknown kind",
       changed("tokenizer.ggml.token_type", gguf::Array(std::vector<std::int32_t>(261, 7))),
       "kinds from 1 to 6"},
      {"eos out of range", changed("tokenizer.ggml.eos_token_id", std::uint32_t(261)),
       "expected a token below 261, found 261"},
      {"negative bos", changed("tokenizer.ggml.bos_token_id", std::int32_t(-1)), "found -1"},
      {"empty", changed("tokenizer.ggml.tokens", gguf::Array(std::vector<std::string>())),
       "'tokenizer.ggml.tokens' is empty"},
      {"a string for tokens", changed("tokenizer.ggml.tokens", std::string("a")),
       "expected an array of strings"},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    auto made = make_tokenizer(c.metadata());
    REQUIRE_FALSE(made);
    INFO(made.error().message);
    CHECK(made.error().message.find(c.message) != std::string::npos);
  }
}

TEST_CASE("end tokens are the file's, and control tokens that are known to end a turn") {
  gguf::Metadata m;
  m.insert("tokenizer.ggml.model", std::string("llama"));
  m.insert("tokenizer.ggml.tokens", gguf::Array(std::vector<std::string>{
                                        "<s>", "</s>", "<|im_end|>", "<|eot_id|>", "stop"}));
  m.insert("tokenizer.ggml.scores", gguf::Array(std::vector<float>(5)));
  // The text of an end token as an ordinary token ends nothing.
  m.insert("tokenizer.ggml.token_type", gguf::Array(std::vector<std::int32_t>{3, 3, 3, 1, 1}));
  m.insert("tokenizer.ggml.eos_token_id", std::uint32_t(1));
  m.insert("tokenizer.ggml.eom_token_id", std::uint32_t(4));
  const auto tokenizer = make_or_fail(m);
  const auto ends = tokenizer->end_tokens();
  CHECK(std::vector<Token>(ends.begin(), ends.end()) == std::vector<Token>{1, 2, 4});
}

#include <catch2/catch.hpp>
#include <random>

#include "serving/tokenizer/test_vocabulary.h"

using namespace serving;

namespace {

constexpr Token kByte = 3, kUser = 259, kPieces = 260;
const std::string kMark = "\xE2\x96\x81";

std::vector<Token> tokens_of(std::initializer_list<Token> list) { return list; }

}  // namespace

TEST_CASE("SPM merges the best pair first and falls back to bytes") {
  // Scores fall with the id: "ab" is merged before "bc".
  const auto tokenizer =
      make_or_fail(spm_metadata({"ab", "bc", "a", "b", "c", kMark, kMark + "a"}));
  const auto encode = [&](const char* text) { return tokenizer->encode(text, false, false); };
  CHECK(encode("bc") == tokens_of({kPieces + 5, kPieces + 1}));
  CHECK(encode("xabc") == tokens_of({kPieces + 5, kByte + 'x', kPieces + 0, kPieces + 4}));
  CHECK(encode("a b") ==  // the prefix merges with the first letter only
        tokens_of({kPieces + 6, kPieces + 5, kPieces + 3}));
  CHECK(encode("\xC3\xA9") == tokens_of({kPieces + 5, kByte + 0xC3, kByte + 0xA9}));
  CHECK(encode("").empty());
}

TEST_CASE("bos comes where asked, and special tokens only where they are to be read") {
  const auto tokenizer = make_or_fail(spm_metadata({"a", kMark}));
  CHECK(tokenizer->adds_bos());
  CHECK(tokenizer->encode("a", false, true) == tokens_of({1, kPieces + 1, kPieces}));
  CHECK(tokenizer->encode("<|user|>a</s>", true, false) ==
        tokens_of({kUser, kPieces + 1, kPieces, 2}));
  const auto as_text = tokenizer->encode("</s>", false, false);
  CHECK(as_text == tokens_of({kPieces + 1, kByte + '<', kByte + '/', kByte + 's', kByte + '>'}));
  CHECK(tokenizer->bytes(kUser).empty());
  CHECK(tokenizer->bytes(kByte + 10) == "\n");
  CHECK(tokenizer->bytes(-1).empty());
  CHECK(tokenizer->bytes(tokenizer->vocabulary()).empty());
}

TEST_CASE("the file may forbid the space in front") {
  gguf::Metadata m = spm_metadata({"a", kMark});
  m.insert("tokenizer.ggml.add_space_prefix", false);
  m.insert("tokenizer.ggml.add_bos_token", false);
  const auto tokenizer = make_or_fail(m);
  CHECK(tokenizer->encode("a a", false, false) == tokens_of({kPieces, kPieces + 1, kPieces}));
  CHECK_FALSE(tokenizer->adds_bos());
}

TEST_CASE("SPM brings any valid text back") {
  gguf::Metadata m = spm_metadata({"ab", "ba", kMark + "a", "a", "b", kMark, "\xC3\xA9", "aba"});
  m.insert("tokenizer.ggml.add_space_prefix", false);
  const auto tokenizer = make_or_fail(m);
  const unsigned seed = 31;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::vector<std::string> parts = {
      "a",   "b", " ",           "\n", "\xC3\xA9", "\xF0\x9F\x98\x80", kMark.substr(0, 0),
      "<s>", "z", "\xE6\xBC\xA2"};
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (unsigned n = random() % 40; n > 0; --n) text += parts[random() % parts.size()];
    INFO(text);
    REQUIRE(decode(*tokenizer, tokenizer->encode(text, false, false)) == text);
  }
}

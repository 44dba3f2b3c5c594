#include <catch2/catch.hpp>
#include <random>

#include "serving/tokenizer/test_vocabulary.h"

using namespace serving;

namespace {

// The 256 bytes in GPT-2's alphabet, as its published table has them: the bytes that are not
// printable come in order from U+0100.
std::string mapped(unsigned byte) {
  unsigned code = byte;
  if (byte < 0x21) code = 0x100 + byte;
  if (byte >= 0x7F && byte <= 0xA0) code = 0x121 + (byte - 0x7F);
  if (byte == 0xAD) code = 0x143;
  if (code < 0x80) return std::string(1, char(code));
  return {char(0xC0 | code >> 6), char(0x80 | (code & 0x3F))};
}

std::string mapped(const std::string& text) {
  std::string out;
  for (unsigned char byte : text) out += mapped(unsigned(byte));
  return out;
}

// Bytes 0 .. 255, then what the merges make, then two special tokens.
gguf::Metadata bpe_metadata(const std::string& pre,
                            const std::vector<std::pair<std::string, std::string>>& merges) {
  std::vector<std::string> texts, lines;
  for (unsigned byte = 0; byte < 256; ++byte) texts.push_back(mapped(byte));
  for (const auto& [left, right] : merges) {
    texts.push_back(mapped(left + right));
    lines.push_back(mapped(left) + " " + mapped(right));
  }
  std::vector<std::int32_t> kinds(texts.size(), 1);
  texts.insert(texts.end(), {"<|im_start|>", "<|im_end|>"});
  kinds.insert(kinds.end(), {3, 3});
  gguf::Metadata m;
  m.insert("tokenizer.ggml.model", std::string("gpt2"));
  m.insert("tokenizer.ggml.pre", pre);
  m.insert("tokenizer.ggml.tokens", gguf::Array(texts));
  m.insert("tokenizer.ggml.token_type", gguf::Array(kinds));
  m.insert("tokenizer.ggml.merges", gguf::Array(lines));
  m.insert("tokenizer.ggml.eos_token_id", std::uint32_t(texts.size() - 1));
  return m;
}

const std::vector<std::pair<std::string, std::string>> kMerges = {
    {"l", "o"}, {"lo", "w"}, {" ", "low"}, {"e", "r"}, {"\xC3", "\xA9"}};

}  // namespace

TEST_CASE("BPE merges by rank within a word") {
  const auto tokenizer = make_or_fail(bpe_metadata("qwen2", kMerges));
  const auto encode = [&](const char* text) { return tokenizer->encode(text, false, false); };
  CHECK(encode("low") == std::vector<Token>{257});
  CHECK(encode("lower low") == std::vector<Token>{257, 259, 258});
  CHECK(encode("\xC3\xA9") == std::vector<Token>{260});
  CHECK(encode("le") == std::vector<Token>{'l', 'e'});
  CHECK(encode("12") == std::vector<Token>{'1', '2'});
  CHECK_FALSE(tokenizer->adds_bos());
  CHECK(tokenizer->encode("low<|im_end|>", true, false) == std::vector<Token>{257, 262});
  CHECK(tokenizer->encode("<|im_end|>", false, false).size() > 1);
}

TEST_CASE("BPE brings any bytes back, whatever cuts the words") {
  const std::string pre = GENERATE("gpt-2", "llama-bpe", "qwen2", "kimi-k2");
  const auto tokenizer = make_or_fail(bpe_metadata(pre, kMerges));
  const unsigned seed = 33;
  INFO("seed " << seed << " " << pre);
  std::mt19937 random(seed);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (unsigned n = random() % 30; n > 0; --n) {
      text += random() % 3 ? std::string("lower") : std::string(1, char(random() % 256));
    }
    std::string back;
    for (Token token : tokenizer->encode(text, false, false)) back += tokenizer->bytes(token);
    REQUIRE(back == text);
  }
}

TEST_CASE("an unknown way to cut words is refused") {
  auto made = make_tokenizer(bpe_metadata("tekken", kMerges));
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("found 'tekken'") != std::string::npos);
}

#include "serving/model/synthetic_vocabulary.h"

#include <cstdint>
#include <cstdio>
#include <string>

namespace serving::model {
namespace {

constexpr std::string_view kSpace = "\xE2\x96\x81";

// a, b, ... z, aa, ab, ...: the n-th string of letters.
std::string letters(int n) {
  std::string text;
  for (++n; n > 0; n = (n - 1) / 26) text.insert(text.begin(), char('a' + (n - 1) % 26));
  return text;
}

}  // namespace

std::vector<gguf::Entry> synthetic_vocabulary(int size) {
  constexpr std::int32_t normal = 1, unknown = 2, control = 3, byte = 6;
  std::vector<std::string> texts = {"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> kinds = {unknown, control, control};
  for (unsigned value = 0; value < 256; ++value) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", value);
    texts.emplace_back(name);
    kinds.push_back(byte);
  }
  texts.emplace_back(kSpace);
  for (int n = 0; int(texts.size()) < size; ++n) {
    texts.push_back(letters(n));
    if (int(texts.size()) < size) texts.push_back(std::string(kSpace) + letters(n));
  }
  kinds.resize(texts.size(), normal);
  // Longer strings merge first, as they do in trained vocabularies where they are worth it.
  std::vector<float> scores(texts.size());
  for (std::size_t i = 3 + 256; i < texts.size(); ++i) scores[i] = -float(texts.size() - i);
  return {{"tokenizer.ggml.model", std::string("llama")},
          {"tokenizer.ggml.tokens", gguf::Array(std::move(texts))},
          {"tokenizer.ggml.scores", gguf::Array(std::move(scores))},
          {"tokenizer.ggml.token_type", gguf::Array(std::move(kinds))},
          {"tokenizer.ggml.bos_token_id", std::uint32_t(1)},
          {"tokenizer.ggml.eos_token_id", std::uint32_t(2)},
          {"tokenizer.ggml.unknown_token_id", std::uint32_t(0)},
          {"tokenizer.ggml.add_bos_token", true},
          {"tokenizer.ggml.add_space_prefix", false}};
}

}  // namespace serving::model

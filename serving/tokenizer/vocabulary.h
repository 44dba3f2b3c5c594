// The tokens of a model, as its file lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serving/core/result.h"
#include "serving/gguf/metadata.h"
#include "serving/model/model.h"

namespace serving::tokenizer {

// Numbers as in `tokenizer.ggml.token_type`.
enum class TokenKind : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

struct Vocabulary {
  std::vector<std::string> texts;
  std::vector<float> scores;  // empty: the file has none
  std::vector<TokenKind> kinds;
  std::unordered_map<std::string_view, Token> ids;  // of `texts`; the first of equal ones
  std::optional<Token> bos, eos, unknown;
  std::vector<Token> end_tokens;

  Vocabulary() = default;
  Vocabulary(Vocabulary&&) = default;  // `ids` looks into `texts`: to move is fine, to copy is not
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  int size() const { return int(texts.size()); }
  std::optional<Token> find(std::string_view text) const;
};

// Errors: not_found, bad_input (names the key).
Result<Vocabulary> read_vocabulary(const gguf::Metadata& metadata);

}  // namespace serving::tokenizer

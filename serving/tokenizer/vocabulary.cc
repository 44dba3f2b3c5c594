#include "serving/tokenizer/vocabulary.h"

#include <algorithm>
#include <array>

namespace serving::tokenizer {
namespace {

// What ends a turn in the common chat formats; files often name only one end token.
constexpr std::array<std::string_view, 8> kEndTexts = {"<|eot_id|>",    "<|im_end|>",     "<|end|>",
                                                       "<end_of_turn>", "<|eom_id|>",     "[EOT]",
                                                       "[EOS]",         "<|end_of_text|>"};

Result<std::optional<Token>> special_id(const gguf::Metadata& metadata, const std::string& key,
                                        int size) {
  if (!metadata.has(key)) return std::nullopt;
  auto id = metadata.integer(key);
  if (!id) return tl::unexpected(id.error());
  if (*id < 0 || *id >= size) {
    return fail(ErrorCode::bad_input, "metadata key '" + key + "': expected a token below " +
                                          std::to_string(size) + ", found " + std::to_string(*id));
  }
  return Token(*id);
}

Status read_kinds(const gguf::Metadata& metadata, Vocabulary& vocabulary) {
  vocabulary.kinds.assign(vocabulary.texts.size(), TokenKind::normal);
  const std::string key = "tokenizer.ggml.token_type";
  if (!metadata.has(key)) return {};
  auto kinds = metadata.integers(key);
  if (!kinds) return tl::unexpected(kinds.error());
  const bool known =
      std::all_of(kinds->begin(), kinds->end(), [](auto kind) { return kind >= 1 && kind <= 6; });
  if (kinds->size() != vocabulary.texts.size() || !known) {
    return fail(ErrorCode::bad_input, "metadata key '" + key + "': expected " +
                                          std::to_string(vocabulary.texts.size()) +
                                          " kinds from 1 to 6");
  }
  for (std::size_t i = 0; i < kinds->size(); ++i) vocabulary.kinds[i] = TokenKind((*kinds)[i]);
  return {};
}

Status read_scores(const gguf::Metadata& metadata, Vocabulary& vocabulary) {
  const std::string key = "tokenizer.ggml.scores";
  if (!metadata.has(key)) return {};
  auto scores = metadata.floats(key);
  if (!scores) return tl::unexpected(scores.error());
  if (scores->size() != vocabulary.texts.size()) {
    return fail(ErrorCode::bad_input, "metadata key '" + key + "': expected " +
                                          std::to_string(vocabulary.texts.size()) + " scores");
  }
  vocabulary.scores = std::move(*scores);
  return {};
}

Status read_special(const gguf::Metadata& metadata, Vocabulary& v) {
  struct Role {
    const char* key;
    std::optional<Token>* to;  // null: an end token only
    bool ends;
  };
  const Role roles[] = {{"tokenizer.ggml.bos_token_id", &v.bos, false},
                        {"tokenizer.ggml.eos_token_id", &v.eos, true},
                        {"tokenizer.ggml.unknown_token_id", &v.unknown, false},
                        {"tokenizer.ggml.eot_token_id", nullptr, true},
                        {"tokenizer.ggml.eom_token_id", nullptr, true}};
  for (const Role& role : roles) {
    auto id = special_id(metadata, role.key, v.size());
    if (!id) return tl::unexpected(id.error());
    if (role.to != nullptr) *role.to = *id;
    if (role.ends && *id) v.end_tokens.push_back(**id);
  }
  for (std::string_view text : kEndTexts) {
    auto id = v.find(text);
    if (id && v.kinds[*id] == TokenKind::control) v.end_tokens.push_back(*id);
  }
  std::sort(v.end_tokens.begin(), v.end_tokens.end());
  v.end_tokens.erase(std::unique(v.end_tokens.begin(), v.end_tokens.end()), v.end_tokens.end());
  return {};
}

}  // namespace

std::optional<Token> Vocabulary::find(std::string_view text) const {
  auto at = ids.find(text);
  return at == ids.end() ? std::nullopt : std::optional(at->second);
}

Result<Vocabulary> read_vocabulary(const gguf::Metadata& metadata) {
  auto texts = metadata.texts("tokenizer.ggml.tokens");
  if (!texts) return tl::unexpected(texts.error());
  Vocabulary vocabulary;
  vocabulary.texts = **texts;
  if (vocabulary.texts.empty()) {
    return fail(ErrorCode::bad_input, "metadata key 'tokenizer.ggml.tokens' is empty");
  }
  vocabulary.ids.reserve(vocabulary.texts.size());
  for (Token id = 0; id < vocabulary.size(); ++id) {
    vocabulary.ids.emplace(vocabulary.texts[id], id);
  }
  Status status = read_kinds(metadata, vocabulary);
  if (status) status = read_scores(metadata, vocabulary);
  if (status) status = read_special(metadata, vocabulary);
  if (!status) return tl::unexpected(status.error());
  return vocabulary;
}

}  // namespace serving::tokenizer

// Small vocabularies for tests, as a file would hold them.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "serving/gguf/metadata.h"
#include "serving/tokenizer/make_tokenizer.h"

namespace serving {

// <unk> <s> </s>, 256 bytes, <|user|> (control), then `pieces`, better scores first.
inline gguf::Metadata spm_metadata(const std::vector<std::string>& pieces) {
  std::vector<std::string> texts = {"<unk>", "<s>", "</s>"};
  std::vector<std::int32_t> kinds = {2, 3, 3};
  std::vector<float> scores(3);
  for (unsigned byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    texts.emplace_back(name);
    kinds.push_back(6);
    scores.push_back(0);
  }
  texts.emplace_back("<|user|>");
  kinds.push_back(3);
  scores.push_back(0);
  for (const std::string& piece : pieces) {
    texts.push_back(piece);
    kinds.push_back(1);
    scores.push_back(-float(texts.size()));
  }
  gguf::Metadata m;
  m.insert("tokenizer.ggml.model", std::string("llama"));
  m.insert("tokenizer.ggml.tokens", gguf::Array(texts));
  m.insert("tokenizer.ggml.scores", gguf::Array(scores));
  m.insert("tokenizer.ggml.token_type", gguf::Array(kinds));
  m.insert("tokenizer.ggml.bos_token_id", std::uint32_t(1));
  m.insert("tokenizer.ggml.eos_token_id", std::uint32_t(2));
  m.insert("tokenizer.ggml.unknown_token_id", std::uint32_t(0));
  return m;
}

inline std::unique_ptr<Tokenizer> make_or_fail(const gguf::Metadata& metadata) {
  auto made = make_tokenizer(metadata);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  return std::move(*made);
}

inline std::string decode(const Tokenizer& tokenizer, const std::vector<Token>& tokens) {
  auto decoder = tokenizer.decoder();
  std::string text;
  for (Token token : tokens) text += decoder->add(token);
  return text + decoder->finish();
}

}  // namespace serving

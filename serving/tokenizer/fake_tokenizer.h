// A tokenizer for tests: ids 0 .. 255 are bytes, then come the control tokens, then some longer
// pieces. Text is cut greedily, so that stop strings and grammars meet tokens longer than a byte.
#pragma once

#include <algorithm>
#include <utility>

#include "serving/tokenizer/tokenizer.h"

namespace serving {

// Keeps back the bytes of a character that is not whole; does not repair what is no UTF-8.
class FakeDecoder final : public Decoder {
 public:
  explicit FakeDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  std::string add(Token token) override {
    held_ += tokenizer_.bytes(token);
    std::size_t whole = held_.size();
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, held_.size()); ++back) {
      const auto lead = static_cast<unsigned char>(held_[held_.size() - back]);
      if ((lead & 0xc0) == 0x80) continue;
      const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
      if (length > back) whole = held_.size() - back;
      break;
    }
    std::string text = held_.substr(0, whole);
    held_.erase(0, whole);
    return text;
  }
  std::string finish() override { return held_.empty() ? "" : "\xef\xbf\xbd"; }

 private:
  const Tokenizer& tokenizer_;
  std::string held_;
};

class FakeTokenizer final : public Tokenizer {
 public:
  static constexpr Token kBos = 256, kEos = 257, kImStart = 258, kImEnd = 259, kFirstPiece = 260;

  explicit FakeTokenizer(std::vector<std::string> pieces = {" the", "the", "ing", "ab",
                                                            "\":", "\",\"", "{\"", "\"}"})
      : control_{"<s>", "</s>", "<|im_start|>", "<|im_end|>"}, pieces_(std::move(pieces)) {
    for (int byte = 0; byte < 256; ++byte) single_bytes_.emplace_back(1, static_cast<char>(byte));
  }

  std::vector<Token> encode(std::string_view text, bool parse_special,
                            bool add_bos) const override {
    std::vector<Token> tokens;
    if (add_bos) tokens.push_back(kBos);
    while (!text.empty()) {
      const auto [token, length] = longest(text, parse_special);
      tokens.push_back(token);
      text.remove_prefix(length);
    }
    return tokens;
  }
  std::unique_ptr<Decoder> decoder() const override { return std::make_unique<FakeDecoder>(*this); }
  std::string_view bytes(Token token) const override {
    if (token < 0 || token >= vocabulary()) return {};
    if (token < kBos) return single_bytes_[static_cast<std::size_t>(token)];
    if (token < kFirstPiece) return {};
    return pieces_[static_cast<std::size_t>(token - kFirstPiece)];
  }
  int vocabulary() const override { return kFirstPiece + static_cast<int>(pieces_.size()); }
  std::optional<Token> bos() const override { return kBos; }
  std::optional<Token> eos() const override { return kEos; }
  std::span<const Token> end_tokens() const override { return end_tokens_; }
  bool adds_bos() const override { return true; }
  std::string_view chat_template() const override { return template_; }

  void set_chat_template(std::string text) { template_ = std::move(text); }

 private:
  std::pair<Token, std::size_t> longest(std::string_view text, bool parse_special) const {
    if (parse_special) {
      for (std::size_t i = 0; i < control_.size(); ++i) {
        if (text.starts_with(control_[i]))
          return {kBos + static_cast<Token>(i), control_[i].size()};
      }
    }
    std::pair<Token, std::size_t> best{static_cast<unsigned char>(text[0]), 1};
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].size() > best.second && text.starts_with(pieces_[i])) {
        best = {kFirstPiece + static_cast<Token>(i), pieces_[i].size()};
      }
    }
    return best;
  }

  std::vector<std::string> control_, pieces_, single_bytes_;
  std::vector<Token> end_tokens_{kEos};
  std::string template_;
};

}  // namespace serving

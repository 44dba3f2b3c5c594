#include <array>
#include <cstdio>

#include "serving/tokenizer/encoder.h"
#include "serving/tokenizer/merge.h"
#include "serving/tokenizer/unicode.h"

namespace serving::tokenizer {
namespace {

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (std::size_t at; (at = text.find(from)) != std::string_view::npos;) {
    out += text.substr(0, at);
    out += to;
    text.remove_prefix(at + from.size());
  }
  return out += text;
}

class Spm : public Encoder {
 public:
  Spm(const Vocabulary& vocabulary, bool space_prefix)
      : vocabulary_(vocabulary), space_prefix_(space_prefix) {
    for (int byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", unsigned(byte));
      auto id = vocabulary.find(name);
      const char raw = char(byte);
      if (!id) id = vocabulary.find(std::string_view(&raw, 1));
      if (!id) id = vocabulary.unknown;
      bytes_[byte] = id.value_or(0);
    }
  }

  void encode(std::string_view text, bool first, std::vector<Token>& out) const override {
    if (text.empty()) return;
    const std::string marked = replaced(
        first && space_prefix_ ? " " + std::string(text) : std::string(text), " ", kSpaceMark);
    std::vector<Symbol> symbols = characters(marked);
    merge_symbols(symbols, [&](const Symbol& left, const Symbol& right) {
      const auto id = lookup(marked, left.begin, left.size + right.size);
      return id ? std::optional(Merged{*id, vocabulary_.scores[*id]}) : std::nullopt;
    });
    for (const Symbol& symbol : symbols) {
      if (symbol.size == 0) continue;
      if (symbol.id >= 0) {
        out.push_back(symbol.id);
      } else {
        for (std::size_t i = 0; i < symbol.size; ++i) {
          out.push_back(bytes_[static_cast<unsigned char>(marked[symbol.begin + i])]);
        }
      }
    }
  }

  std::string bytes_of(std::string_view token_text) const override {
    return replaced(token_text, kSpaceMark, " ");
  }

  bool adds_bos() const override { return true; }

 private:
  std::optional<Token> lookup(const std::string& text, std::size_t begin, std::size_t size) const {
    return vocabulary_.find(std::string_view(text).substr(begin, size));
  }

  std::vector<Symbol> characters(const std::string& text) const {
    std::vector<Symbol> symbols;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = decode_utf8(std::string_view(text).substr(at)).size;
      symbols.push_back({at, size, -1, -1, lookup(text, at, size).value_or(-1)});
      at += size;
    }
    return symbols;
  }

  const Vocabulary& vocabulary_;
  bool space_prefix_;
  std::array<Token, 256> bytes_{};
};

}  // namespace

Result<std::unique_ptr<Encoder>> make_spm(const Vocabulary& vocabulary,
                                          const gguf::Metadata& metadata) {
  if (vocabulary.scores.empty()) {
    return fail(ErrorCode::not_found,
                "metadata key 'tokenizer.ggml.scores' is missing, which model 'llama' needs");
  }
  auto prefix = metadata.flag("tokenizer.ggml.add_space_prefix", true);
  if (!prefix) return tl::unexpected(prefix.error());
  return std::make_unique<Spm>(vocabulary, *prefix);
}

}  // namespace serving::tokenizer

#include <array>
#include <cstdint>

#include "serving/tokenizer/encoder.h"
#include "serving/tokenizer/merge.h"
#include "serving/tokenizer/pre_tokenizer.h"
#include "serving/tokenizer/unicode.h"

namespace serving::tokenizer {
namespace {

// GPT-2's alphabet: printable Latin-1 bytes are themselves, the others follow from U+0100.
std::array<char32_t, 256> byte_alphabet() {
  std::array<char32_t, 256> alphabet{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool itself =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    alphabet[byte] = itself ? byte : next++;
  }
  return alphabet;
}

std::string utf8_of(char32_t code) {  // the alphabet ends below U+0800
  if (code < 0x80) return std::string(1, char(code));
  return {char(0xC0 | code >> 6), char(0x80 | (code & 0x3F))};
}

std::uint64_t pair_key(int left, int right) {
  return std::uint64_t(std::uint32_t(left)) << 32 | std::uint32_t(right);
}

class Bpe : public Encoder {
 public:
  Bpe(const Vocabulary& vocabulary, PreTokenizer pre) : vocabulary_(vocabulary), pre_(pre) {
    const auto alphabet = byte_alphabet();
    for (int byte = 0; byte < 256; ++byte) {
      characters_[byte] = utf8_of(alphabet[byte]);
      bytes_.emplace(alphabet[byte], char(byte));
      ids_[byte] = vocabulary.find(characters_[byte]).value_or(-1);
    }
  }

  // "left right"; a pair whose parts or whole are no tokens can never come up.
  void add_merge(const std::string& text, int rank) {
    const std::size_t space = text.find(' ', 1);
    if (space == std::string::npos) return;
    const std::string left = text.substr(0, space), right = text.substr(space + 1);
    const auto l = vocabulary_.find(left), r = vocabulary_.find(right),
               whole = vocabulary_.find(left + right);
    if (l && r && whole) merges_.try_emplace(pair_key(*l, *r), Merged{*whole, -double(rank)});
  }

  void encode(std::string_view text, bool, std::vector<Token>& out) const override {
    for (std::string_view word : split_words(pre_, text)) encode_word(word, out);
  }

  std::string bytes_of(std::string_view token_text) const override {
    std::string bytes;
    while (!token_text.empty()) {
      const Decoded next = decode_utf8(token_text);
      auto at = bytes_.find(next.code);
      if (next.valid && at != bytes_.end()) {
        bytes += at->second;
      } else {
        bytes += token_text.substr(0, next.size);  // not of the alphabet: as it stands
      }
      token_text.remove_prefix(next.size);
    }
    return bytes;
  }

  bool adds_bos() const override { return pre_ == PreTokenizer::llama3; }

 private:
  void encode_word(std::string_view word, std::vector<Token>& out) const {
    if (pre_ == PreTokenizer::llama3) {  // this vocabulary knows words that its merges do not make
      std::string mapped;
      for (unsigned char byte : word) mapped += characters_[byte];
      if (auto id = vocabulary_.find(mapped)) return out.push_back(*id);
    }
    std::vector<Symbol> symbols;
    for (std::size_t i = 0; i < word.size(); ++i) {
      symbols.push_back({i, 1, -1, -1, ids_[static_cast<unsigned char>(word[i])]});
    }
    merge_symbols(symbols, [&](const Symbol& left, const Symbol& right) -> std::optional<Merged> {
      auto at = merges_.find(pair_key(left.id, right.id));
      return at == merges_.end() ? std::nullopt : std::optional(at->second);
    });
    for (const Symbol& symbol : symbols) {
      if (symbol.size == 0) continue;
      if (symbol.id >= 0) {
        out.push_back(symbol.id);
      } else if (vocabulary_.unknown) {
        out.push_back(*vocabulary_.unknown);
      }
    }
  }

  const Vocabulary& vocabulary_;
  PreTokenizer pre_;
  std::array<std::string, 256> characters_;   // of the alphabet, in UTF-8
  std::unordered_map<char32_t, char> bytes_;  // the other way
  std::array<int, 256> ids_{};                // tokens of single bytes; -1: none
  std::unordered_map<std::uint64_t, Merged> merges_;
};

}  // namespace

Result<std::unique_ptr<Encoder>> make_bpe(const Vocabulary& vocabulary,
                                          const gguf::Metadata& metadata) {
  auto name = metadata.text("tokenizer.ggml.pre", "gpt-2");
  if (!name) return tl::unexpected(name.error());
  const auto pre = pre_tokenizer(*name);
  if (!pre) {
    return fail(ErrorCode::bad_input,
                "tokenizer.ggml.pre: gpt-2, llama-bpe, qwen2 and kimi-k2 are supported, found '" +
                    *name + "'");
  }
  auto merges = metadata.texts("tokenizer.ggml.merges");
  if (!merges) return tl::unexpected(merges.error());
  auto bpe = std::make_unique<Bpe>(vocabulary, *pre);
  for (std::size_t rank = 0; rank < (*merges)->size(); ++rank) {
    bpe->add_merge((**merges)[rank], int(rank));
  }
  return bpe;
}

}  // namespace serving::tokenizer

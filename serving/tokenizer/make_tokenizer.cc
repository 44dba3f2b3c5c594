#include "serving/tokenizer/make_tokenizer.h"

#include <algorithm>
#include <array>

#include "serving/tokenizer/encoder.h"
#include "serving/tokenizer/utf8_stream.h"
#include "serving/tokenizer/vocabulary.h"

namespace serving {
namespace {

using tokenizer::Encoder;
using tokenizer::TokenKind;
using tokenizer::Vocabulary;

class PieceDecoder : public Decoder {
 public:
  explicit PieceDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  std::string add(Token token) override { return stream_.add(tokenizer_.bytes(token)); }
  std::string finish() override { return stream_.finish(); }

 private:
  const Tokenizer& tokenizer_;
  tokenizer::Utf8Stream stream_;
};

// Tokens that are found in a text as they stand, the longest first: a marker may begin another.
class SpecialTokens {
 public:
  void add(std::string_view text, Token id, bool control) {
    if (text.empty()) return;
    by_first_byte_[static_cast<unsigned char>(text[0])].push_back({text, id, control});
  }
  void sort() {  // once all are added
    for (auto& list : by_first_byte_) {
      std::stable_sort(list.begin(), list.end(), [](const Entry& a, const Entry& b) {
        return a.text.size() > b.text.size();
      });
    }
  }

  struct Found {
    std::size_t at = std::string_view::npos;
    std::size_t size = 0;
    Token id = -1;
  };
  // Control tokens only with `control`.
  Found find(std::string_view text, bool control) const {
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const Entry& entry : by_first_byte_[static_cast<unsigned char>(text[at])]) {
        if ((control || !entry.control) && text.substr(at).starts_with(entry.text)) {
          return {at, entry.text.size(), entry.id};
        }
      }
    }
    return {};
  }

 private:
  struct Entry {
    std::string_view text;
    Token id;
    bool control;
  };
  std::array<std::vector<Entry>, 256> by_first_byte_;
};

class FileTokenizer : public Tokenizer {
 public:
  struct Parts {
    std::unique_ptr<Vocabulary> vocabulary;  // the encoder looks into it
    std::unique_ptr<Encoder> encoder;
    bool adds_bos = false;
    std::string chat_template;
  };
  explicit FileTokenizer(Parts parts) : parts_(std::move(parts)) {
    const Vocabulary& v = *parts_.vocabulary;
    for (Token id = 0; id < v.size(); ++id) {
      const TokenKind kind = v.kinds[id];
      bytes_.push_back(bytes_of(id));
      const bool control = kind == TokenKind::control || kind == TokenKind::unknown;
      if (control || kind == TokenKind::user_defined) special_.add(v.texts[id], id, control);
    }
    special_.sort();
  }

  std::vector<Token> encode(std::string_view text, bool parse_special,
                            bool add_bos) const override {
    std::vector<Token> out;
    if (add_bos && bos()) out.push_back(*bos());
    bool first = true;
    while (!text.empty()) {
      const auto found = special_.find(text, parse_special);
      parts_.encoder->encode(text.substr(0, found.at), first, out);
      if (found.id < 0) break;
      out.push_back(found.id);
      text.remove_prefix(found.at + found.size);
      first = true;
    }
    return out;
  }

  std::unique_ptr<Decoder> decoder() const override {
    return std::make_unique<PieceDecoder>(*this);
  }
  std::string_view bytes(Token token) const override {
    return token >= 0 && token < vocabulary() ? std::string_view(bytes_[token]) : "";
  }
  int vocabulary() const override { return parts_.vocabulary->size(); }
  std::optional<Token> bos() const override { return parts_.vocabulary->bos; }
  std::optional<Token> eos() const override { return parts_.vocabulary->eos; }
  std::span<const Token> end_tokens() const override { return parts_.vocabulary->end_tokens; }
  bool adds_bos() const override { return parts_.adds_bos; }
  std::string_view chat_template() const override { return parts_.chat_template; }

 private:
  std::string bytes_of(Token id) const {
    const std::string& text = parts_.vocabulary->texts[id];
    switch (parts_.vocabulary->kinds[id]) {
      case TokenKind::normal:
        return parts_.encoder->bytes_of(text);
      case TokenKind::user_defined:
        return text;
      case TokenKind::byte:
        return byte_of(text);
      case TokenKind::unknown:
      case TokenKind::control:
      case TokenKind::unused:
        return {};
    }
    return {};
  }

  // "<0x0A>"; anything else stands for itself.
  static std::string byte_of(const std::string& text) {
    const auto digit = [&](std::size_t at) {
      const char c = text[at];
      return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    };
    const bool named = text.size() == 6 && text.starts_with("<0x") && text.ends_with(">") &&
                       digit(3) >= 0 && digit(4) >= 0;
    return named ? std::string(1, char(digit(3) * 16 + digit(4))) : text;
  }

  Parts parts_;
  SpecialTokens special_;
  std::vector<std::string> bytes_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> make_tokenizer(const gguf::Metadata& metadata) {
  auto model = metadata.text("tokenizer.ggml.model");
  if (!model) return tl::unexpected(model.error());
  auto vocabulary = tokenizer::read_vocabulary(metadata);
  if (!vocabulary) return tl::unexpected(vocabulary.error());
  FileTokenizer::Parts parts;
  parts.vocabulary = std::make_unique<Vocabulary>(std::move(*vocabulary));
  if (*model != "llama" && *model != "gpt2") {
    return fail(ErrorCode::bad_input,
                "tokenizer.ggml.model: llama and gpt2 are supported, found '" + *model + "'");
  }
  auto encoder = *model == "llama" ? tokenizer::make_spm(*parts.vocabulary, metadata)
                                   : tokenizer::make_bpe(*parts.vocabulary, metadata);
  if (!encoder) return tl::unexpected(encoder.error());
  parts.encoder = std::move(*encoder);
  auto adds_bos = metadata.flag("tokenizer.ggml.add_bos_token", parts.encoder->adds_bos());
  if (!adds_bos) return tl::unexpected(adds_bos.error());
  parts.adds_bos = *adds_bos && parts.vocabulary->bos.has_value();
  auto chat_template = metadata.text("tokenizer.chat_template", "");
  if (!chat_template) return tl::unexpected(chat_template.error());
  parts.chat_template = std::move(*chat_template);
  return std::make_unique<FileTokenizer>(std::move(parts));
}

}  // namespace serving

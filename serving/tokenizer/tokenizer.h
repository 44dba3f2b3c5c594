// Text to token ids and back, as a model's file defines it. Immutable once made: all members may be
// called from any thread; a Decoder belongs to one answer.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serving/model/model.h"

namespace serving {

// Turns the tokens of one answer into text as they come. What it returns is valid UTF-8 at all
// times: bytes of a character that is not whole yet are kept for the next call, and bytes that can
// never become one come out as U+FFFD.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual std::string add(Token token) = 0;  // control tokens add nothing
  virtual std::string finish() = 0;          // the rest, once no token follows
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // `text` is UTF-8. With `parse_special` a control token's own text ("<|im_end|>") becomes that
  // token; without, it is text like any other, as it must be for what a user wrote. `add_bos` puts
  // bos() first where the file has one.
  virtual std::vector<Token> encode(std::string_view text, bool parse_special,
                                    bool add_bos) const = 0;

  // For tokens that follow a prompt, so that a leading space is kept.
  virtual std::unique_ptr<Decoder> decoder() const = 0;

  // What the token adds in the middle of a text: any bytes, also half a character. Empty for
  // control tokens and for ids that are not used. Lives as long as the tokenizer.
  virtual std::string_view bytes(Token token) const = 0;

  virtual int vocabulary() const = 0;  // ids are 0 .. vocabulary() - 1
  virtual std::optional<Token> bos() const = 0;
  virtual std::optional<Token> eos() const = 0;
  virtual std::span<const Token> end_tokens() const = 0;  // any ends an answer: eos, eot, eom
  virtual bool adds_bos() const = 0;  // the file wants prompts to begin with bos

  virtual std::string_view chat_template() const = 0;  // the file's own (Jinja); empty: none
};

}  // namespace serving

// Text without special tokens to ids, in the two ways that files know.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serving/core/result.h"
#include "serving/gguf/metadata.h"
#include "serving/tokenizer/vocabulary.h"

namespace serving::tokenizer {

class Encoder {
 public:
  virtual ~Encoder() = default;
  // Appends. `first`: a text, or what follows a special token, starts here.
  virtual void encode(std::string_view text, bool first, std::vector<Token>& out) const = 0;
  // What a normal token stands for in a text.
  virtual std::string bytes_of(std::string_view token_text) const = 0;
  virtual bool adds_bos() const = 0;  // where the file does not say
};

// `vocabulary` must outlive them. Errors: not_found, bad_input.
//
// SentencePiece: spaces are U+2581, neighbours merge while the result is a token, best score first,
// and characters that are no token become their bytes.
Result<std::unique_ptr<Encoder>> make_spm(const Vocabulary& vocabulary,
                                          const gguf::Metadata& metadata);
// Byte-level BPE: the text is cut into words, and within a word neighbours merge by the rank that
// the file gives the pair.
Result<std::unique_ptr<Encoder>> make_bpe(const Vocabulary& vocabulary,
                                          const gguf::Metadata& metadata);

}  // namespace serving::tokenizer

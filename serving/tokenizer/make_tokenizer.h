// The tokenizer of a model's file.
#pragma once

#include <memory>

#include "serving/core/result.h"
#include "serving/gguf/metadata.h"
#include "serving/tokenizer/tokenizer.h"

namespace serving {

// `tokenizer.ggml.model`: llama (SentencePiece) and gpt2 (byte-level BPE). The tokenizer keeps
// nothing of the file. Errors: not_found, bad_input (names the key).
Result<std::unique_ptr<Tokenizer>> make_tokenizer(const gguf::Metadata& metadata);

}  // namespace serving

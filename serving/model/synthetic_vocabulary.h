// A vocabulary in SentencePiece's manner that can say anything: every byte is a token.
#pragma once

#include <vector>

#include "serving/gguf/value.h"

namespace serving::model {

// The `tokenizer.ggml.*` entries: <unk>, <s>, </s>, 256 bytes, the space, then strings of letters,
// with and without a space in front, the shorter first.
std::vector<gguf::Entry> synthetic_vocabulary(int size);

}  // namespace serving::model

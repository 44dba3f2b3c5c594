// Bytes that come in pieces, as valid UTF-8 (Decoder of tokenizer.h).
#pragma once

#include <string>
#include <string_view>

namespace serving::tokenizer {

class Utf8Stream {
 public:
  std::string add(std::string_view bytes);  // what is whole now
  std::string finish();                     // an unfinished character becomes U+FFFD

 private:
  std::string waiting_;  // the start of a character, at most three bytes
};

}  // namespace serving::tokenizer

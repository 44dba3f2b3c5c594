// UTF-8 and the classes of characters that tokenizers' expressions name.
#pragma once

#include <cstddef>
#include <string_view>

namespace serving::tokenizer {

inline constexpr char32_t kReplacement = 0xFFFD;

struct Decoded {
  char32_t code = kReplacement;
  std::size_t size = 1;  // bytes; of a malformed sequence, those that can be skipped together
  bool valid = false;
  bool truncated = false;  // not valid, but more bytes could make it so
};

// The character at the start of `text`, which is not empty (Unicode 15, 3.9: the longest part of a
// sequence that could have been one is replaced as a whole).
Decoded decode_utf8(std::string_view text);

enum class CharClass : unsigned char { upper, lower, other_letter, mark, number, space, other };

CharClass char_class(char32_t code);
inline bool is_letter(CharClass c) {
  return c == CharClass::upper || c == CharClass::lower || c == CharClass::other_letter;
}
bool is_han(char32_t code);  // script Han, Unicode 15

}  // namespace serving::tokenizer

#include "store/search_text.h"

#include <cctype>

namespace store {

namespace {

constexpr int kMostWords = 32;

// Bytes above 127 belong to letters of other scripts (or to nothing that could be found).
bool searchable(unsigned char byte) { return byte >= 0x80 || std::isalnum(byte); }
bool between_words(unsigned char byte) { return byte <= ' ' || byte == 0x7f; }

}  // namespace

std::string search_expression(std::string_view text) {
  std::string expression;
  std::string word;
  bool has_letter = false;
  int words = 0;
  auto end_word = [&] {
    if (has_letter && words < kMostWords) {
      expression += (words++ ? " \"" : "\"") + word + "\"*";
    }
    word.clear();
    has_letter = false;
  };
  for (unsigned char byte : text) {
    if (between_words(byte)) {
      end_word();
      continue;
    }
    has_letter = has_letter || searchable(byte);
    word += static_cast<char>(byte);
    if (byte == '"') word += '"';  // doubled, as FTS5 quotes it
  }
  end_word();
  return expression;
}

}  // namespace store

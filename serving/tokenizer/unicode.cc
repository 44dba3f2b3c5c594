#include "serving/tokenizer/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace serving::tokenizer {
namespace {

// What the second byte may be, which depends on the first (Unicode 15, table 3-7).
struct Lead {
  std::size_t size = 0;  // 0: no character starts so
  unsigned low = 0x80, high = 0xBF;
};

Lead lead_of(unsigned byte) {
  if (byte < 0x80) return {1};
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  return {};
}

bool is_space(char32_t c) {
  return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

struct Interval {
  char32_t first, last;
};

constexpr Interval kHan[] = {{0x2E80, 0x2E99},   {0x2E9B, 0x2EF3},   {0x2F00, 0x2FD5},
                             {0x3005, 0x3005},   {0x3007, 0x3007},   {0x3021, 0x3029},
                             {0x3038, 0x303B},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},
                             {0xF900, 0xFA6D},   {0xFA70, 0xFAD9},   {0x16FE2, 0x16FE3},
                             {0x16FF0, 0x16FF1}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B739},
                             {0x2B740, 0x2B81D}, {0x2B820, 0x2CEA1}, {0x2CEB0, 0x2EBE0},
                             {0x2F800, 0x2FA1D}, {0x30000, 0x3134A}, {0x31350, 0x323AF}};

}  // namespace

Decoded decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return unsigned(static_cast<unsigned char>(text[i])); };
  const Lead lead = lead_of(byte(0));
  if (lead.size == 0) return {};
  if (lead.size == 1) return {byte(0), 1, true};
  char32_t code = byte(0) & (0x7Fu >> lead.size);
  for (std::size_t i = 1; i < lead.size; ++i) {
    if (i == text.size()) return {kReplacement, i, false, true};
    const unsigned low = i == 1 ? lead.low : 0x80, high = i == 1 ? lead.high : 0xBF;
    if (byte(i) < low || byte(i) > high) return {kReplacement, i, false};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  return {code, lead.size, true};
}

CharClass char_class(char32_t code) {
  if (is_space(code)) return CharClass::space;
  switch (utf8proc_category(utf8proc_int32_t(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return CharClass::upper;
    case UTF8PROC_CATEGORY_LL:
      return CharClass::lower;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharClass::other_letter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return CharClass::mark;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharClass::number;
    default:
      return CharClass::other;
  }
}

bool is_han(char32_t code) {
  const auto* at = std::upper_bound(std::begin(kHan), std::end(kHan), code,
                                    [](char32_t c, const Interval& i) { return c < i.first; });
  return at != std::begin(kHan) && code <= std::prev(at)->last;
}

}  // namespace serving::tokenizer

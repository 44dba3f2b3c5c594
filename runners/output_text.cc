// Foreign text and foreign JSON, taken in with suspicion.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "runners/adapter_parts.h"

namespace runners {
using nlohmann::json;
namespace {

constexpr int kJsonDepthLimit = 64;

bool is_token_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
         c == '-' || c == '.';
}

bool is_json_word(std::string_view token) {
  return token == "true" || token == "false" || token == "null";
}

// NaN, nan, -nan(snan), inf, Infinity, and numbers that no double holds.
bool is_not_finite(std::string_view token) {
  if (is_json_word(token)) return false;
  std::string text(token);
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() && !std::isfinite(value);
}

// Copies `text` with non-finite numbers put in quotes; false when it is nested too deeply.
bool quote_non_finite(std::string_view text, std::string& result) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '"') {
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      result += text.substr(i, end - i);
      i = end;
    } else if (is_token_char(c)) {
      std::size_t end = i;
      while (end < text.size() && is_token_char(text[end])) ++end;
      std::string_view token = text.substr(i, end - i);
      if (is_not_finite(token)) {
        result += '"';
        result += token;
        result += '"';
      } else {
        result += token;
      }
      i = end;
    } else {
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      if (depth > kJsonDepthLimit) return false;
      result += c;
      ++i;
    }
  }
  return true;
}

// Refuses an object that names a key twice: which of the two would count?
struct DuplicateKeys {
  std::vector<std::set<std::string>> open;
  std::string duplicate;

  bool operator()(int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) open.emplace_back();
    if (event == json::parse_event_t::object_end) open.pop_back();
    if (event == json::parse_event_t::key) {
      auto key = parsed.get<std::string>();
      if (!open.back().insert(key).second && duplicate.empty()) duplicate = key;
    }
    return true;
  }
};

// Bytes of the UTF-8 character at the start of `text`; 0 = none is valid there.
std::size_t utf8_length(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return 1;
  std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies above U+10FFFF.
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

// Bytes of an ANSI escape sequence ("\x1b[1;31m") at the start of `text`; 0 = none.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\x1b' || text[1] != '[') return 0;
  std::size_t i = 2;
  while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
  return std::min(i + 1, text.size());
}

}  // namespace

base::Result<json> parse_json(std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size());
  if (!quote_non_finite(text, quoted)) {
    return base::fail(base::ErrorCode::bad_input, "JSON nested deeper than 64");
  }
  DuplicateKeys duplicates;
  try {
    json value = json::parse(quoted, std::ref(duplicates));
    if (duplicates.duplicate.empty()) return value;
    return base::fail(base::ErrorCode::bad_input,
                      "the key '" + clean_text(duplicates.duplicate, 80) + "' stands twice");
  } catch (const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    std::string message = error.what();
    auto start = message.find("] ");
    if (start != std::string::npos) message = message.substr(start + 2);
    return base::fail(base::ErrorCode::bad_input, clean_text(message, 200));
  }
}

std::string clean_text(std::string_view text, std::size_t limit) {
  std::string result;
  while (!text.empty()) {
    if (std::size_t escape = escape_length(text); escape > 0) {
      text.remove_prefix(escape);
      continue;
    }
    std::size_t length = utf8_length(text);
    std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    bool control = length == 1 && (text[0] < ' ' || text[0] == '\x7f');
    std::string_view shown = length == 0 ? "\xef\xbf\xbd" : control ? " " : character;
    if (result.size() + shown.size() > limit) return result + "...";
    result += shown;
    text.remove_prefix(character.size());
  }
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

std::string last_line_of(std::string_view text) {
  auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return "";
  text = text.substr(0, end + 1);
  auto start = text.rfind('\n');
  return clean_text(start == std::string_view::npos ? text : text.substr(start + 1));
}

}  // namespace runners

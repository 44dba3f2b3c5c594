// JSON text straight from values, by the same lists of fields as json_codec.h: what the store
// writes with every fact, without a tree of values in between. Keys come in the fields' order.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "hypotheses/json_codec.h"

namespace hypotheses {

// `text` in quotes; bytes that are no UTF-8 are replaced, as dump() does.
void append_quoted(std::string& out, std::string_view text);

template <class T>
void append_json(std::string& out, const T& value);

// Writes one JSON object.
class JsonTextWriter {
 public:
  explicit JsonTextWriter(std::string& out) : out_(out) { out_ += '{'; }

  template <class T>
  void operator()(const char* key, const T& value) {
    name(key);
    append_json(out_, value);
  }
  template <class T>
  void if_any(const char* key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  void if_any(const char* key, const std::string& value) {
    if (!value.empty()) (*this)(key, value);
  }
  void interval(const char* key, double low, double high) {
    (*this)(key, std::array<double, 2>{low, high});
  }
  template <class F>
  void derived(const char* key, F text) {
    (*this)(key, text());
  }
  void close() { out_ += '}'; }

 private:
  void name(const char* key) {
    out_ += first_ ? "\"" : ",\"";
    first_ = false;
    out_ += key;
    out_ += "\":";
  }
  std::string& out_;
  bool first_ = true;
};

// Ends up as the shortest text that reads back as the same number.
template <class Number>
void append_number(std::string& out, Number value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

template <class List>
void append_list(std::string& out, const List& list) {
  out += '[';
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ',';
    first = false;
    append_json(out, item);
  }
  out += ']';
}

inline const std::string& name_of(const std::string& key) { return key; }
template <class Tag>
std::string name_of(base::Id<Tag> key) {
  return key.text();
}

template <class Map>
void append_map(std::string& out, const Map& map) {
  out += '{';
  bool first = true;
  for (const auto& [key, item] : map) {
    if (!first) out += ',';
    first = false;
    append_quoted(out, name_of(key));
    out += ':';
    append_json(out, item);
  }
  out += '}';
}

template <class T>
void append_json(std::string& out, const T& value) {
  if constexpr (std::same_as<T, double>) {
    if (!std::isfinite(value)) return void(out += "null");
    // "-0" would be read back as a whole number, which has no sign.
    value == 0 && std::signbit(value) ? void(out += "-0.0") : append_number(out, value);
  } else if constexpr (std::same_as<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    out += '"';
    append_number(out, value);
    out += '"';
  } else if constexpr (std::integral<T>) {
    append_number(out, value);
  } else if constexpr (std::same_as<T, std::string>) {
    append_quoted(out, value);
  } else if constexpr (IsTextMap<T>::value || IsIdMap<T>::value) {
    append_map(out, value);
  } else if constexpr (std::is_enum_v<T>) {
    out += '"';
    out += to_text(value);
    out += '"';
  } else if constexpr (AnyId<T>) {
    value ? append_quoted(out, value.text()) : void(out += "null");
  } else if constexpr (std::same_as<T, CommitId>) {
    value ? append_quoted(out, value.hex) : void(out += "null");
  } else if constexpr (std::same_as<T, base::Instant>) {
    append_number(out, value.ms);
  } else if constexpr (IsOptional<T>::value) {
    value ? append_json(out, *value) : void(out += "null");
  } else if constexpr (IsList<T>::value) {
    append_list(out, value);
  } else {
    JsonTextWriter writer(out);
    describe(writer, value);
    writer.close();
  }
}

}  // namespace hypotheses

// Writing and reading JSON from one list of fields a type (describe() in json_fields.h), so that
// the two directions cannot disagree. For this folder, and for what keeps values of other folders
// with their own describe().
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "hypotheses/types.h"

namespace hypotheses {

// Matches `auto&` parameters of one type, const (when writing) or not (when reading).
template <class T, class U>
concept Like = std::same_as<std::remove_const_t<T>, U>;

template <class T>
struct IsId : std::false_type {};
template <class Tag>
struct IsId<base::Id<Tag>> : std::true_type {};
template <class T>
concept AnyId = IsId<T>::value;

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsList : IsVector<T> {};
template <class T>
struct IsList<std::set<T>> : std::true_type {};
template <class T, std::size_t N>
struct IsList<std::array<T, N>> : std::true_type {};
template <class T>
struct IsTextMap : std::false_type {};
template <class T>
struct IsTextMap<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsIdMap : std::false_type {};
template <class Tag, class T>
struct IsIdMap<std::map<base::Id<Tag>, T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

// Fills a JSON object.
class JsonWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    object_[key] = encode(value);
  }
  // What most values do without is left out of their JSON.
  template <class T>
  void if_any(const char* key, const std::optional<T>& value) {
    if (value) object_[key] = encode(*value);
  }
  void if_any(const char* key, const std::string& value) {
    if (!value.empty()) object_[key] = encode(value);
  }
  // Both ends of an interval; an unbounded one is null.
  void interval(const char* key, double low, double high) {
    object_[key] = nlohmann::json::array({encode(low), encode(high)});
  }
  // For readers of the JSON only; not read back.
  template <class F>
  void derived(const char* key, F text) {
    object_[key] = text();
  }

  template <class T>
  static nlohmann::json encode(const T& value);
  nlohmann::json take() { return std::move(object_); }

 private:
  nlohmann::json object_ = nlohmann::json::object();
};

// Where in a payload: a name, or a place in a list. Spelled out only when something is wrong there,
// for a restart reads every fact.
struct JsonPath {
  const JsonPath* outer = nullptr;
  std::string_view name;
  std::size_t index = 0;  // of a list, when there is no name

  std::string text() const {
    if (name.empty()) return (outer ? outer->text() : "") + "[" + std::to_string(index) + "]";
    return outer ? outer->text() + "." + std::string(name) : std::string(name);
  }
};

// Takes the fields of a JSON object; remembers the first thing that is wrong, reads nothing after
// it.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& object, const JsonPath& path, std::string& error)
      : object_(object), path_(path), error_(error) {
    if (!object_.is_object()) wrong(path_, "an object", object_);
  }

  template <class T>
  void operator()(const char* key, T& value) {
    if (const nlohmann::json* json = find(key)) decode(*json, {&path_, key}, value);
  }
  template <class T>
  void if_any(const char* key, std::optional<T>& value) {
    value.reset();
    if (!error_.empty()) return;
    const auto place = object_.find(key);
    if (place != object_.end()) decode(*place, {&path_, key}, value.emplace());
  }
  void if_any(const char* key, std::string& value) {
    value.clear();
    if (!error_.empty()) return;
    const auto place = object_.find(key);
    if (place != object_.end()) decode(*place, {&path_, key}, value);
  }
  void interval(const char* key, double& low, double& high) {
    const nlohmann::json* json = find(key);
    if (!json) return;
    const JsonPath path{&path_, key};
    if (!json->is_array() || json->size() != 2) return wrong(path, "a list of two numbers", *json);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    low = -kInfinity;
    high = kInfinity;
    if (!(*json)[0].is_null()) decode((*json)[0], {&path, {}, 0}, low);
    if (!(*json)[1].is_null()) decode((*json)[1], {&path, {}, 1}, high);
  }
  template <class F>
  void derived(const char*, F) {}

 private:
  const nlohmann::json* find(const char* key) {
    if (!error_.empty()) return nullptr;
    const auto place = object_.find(key);
    if (place != object_.end()) return &*place;
    error_ = JsonPath{&path_, key}.text() + ": missing";
    return nullptr;
  }
  void wrong(const JsonPath& path, std::string_view expected, const nlohmann::json& found) {
    if (!error_.empty()) return;
    error_ = path.text() + ": expected " + std::string(expected) + "; found " + found.type_name();
  }

  template <class T>
  void decode(const nlohmann::json& json, const JsonPath& path, T& value);
  template <Integer T>
  void decode_integer(const nlohmann::json& json, const JsonPath& path, T& value);
  template <class T>
  void decode_list(const nlohmann::json& json, const JsonPath& path, std::set<T>& value);
  template <class T, std::size_t N>
  void decode_list(const nlohmann::json& json, const JsonPath& path, std::array<T, N>& value);

  const nlohmann::json& object_;
  const JsonPath& path_;
  std::string& error_;
};

template <class T>
nlohmann::json JsonWriter::encode(const T& value) {
  using nlohmann::json;
  if constexpr (std::same_as<T, double>) {
    return std::isfinite(value) ? json(value) : json(nullptr);
  } else if constexpr (std::same_as<T, std::uint64_t>) {
    return std::to_string(value);  // a JavaScript number would lose digits above 2^53
  } else if constexpr (std::integral<T> || std::same_as<T, std::string> ||
                       std::same_as<T, Conditions>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(to_text(value));
  } else if constexpr (AnyId<T>) {
    return value ? json(value.text()) : json(nullptr);
  } else if constexpr (std::same_as<T, CommitId>) {
    return value ? json(value.hex) : json(nullptr);
  } else if constexpr (std::same_as<T, base::Instant>) {
    return value.ms;
  } else if constexpr (IsOptional<T>::value) {
    return value ? encode(*value) : json(nullptr);
  } else if constexpr (IsVector<T>::value) {
    json list = json::array();
    for (const auto& item : value) list.push_back(encode(item));
    return list;
  } else {
    JsonWriter writer;
    describe(writer, value);
    return writer.take();
  }
}

template <Integer T>
void JsonReader::decode_integer(const nlohmann::json& json, const JsonPath& path, T& value) {
  // Beyond the type's range is as wrong as another type.
  if (json.is_number_unsigned()) {
    const auto number = json.get<std::uint64_t>();
    if (std::in_range<T>(number)) return void(value = static_cast<T>(number));
  } else if (json.is_number_integer()) {
    const auto number = json.get<std::int64_t>();
    if (std::in_range<T>(number)) return void(value = static_cast<T>(number));
  } else if (std::same_as<T, std::uint64_t> && json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error == std::errc() && end == last) return;
  }
  wrong(path, "a whole number in range", json);
}

template <class T>
void JsonReader::decode_list(const nlohmann::json& json, const JsonPath& path, std::set<T>& value) {
  std::vector<T> items;
  decode(json, path, items);
  value = std::set<T>(items.begin(), items.end());
}

template <class T, std::size_t N>
void JsonReader::decode_list(const nlohmann::json& json, const JsonPath& path,
                             std::array<T, N>& value) {
  if (!json.is_array() || json.size() != N) return wrong(path, "a list of another length", json);
  for (std::size_t i = 0; i < N; ++i) decode(json[i], {&path, {}, i}, value[i]);
}

template <class T>
void JsonReader::decode(const nlohmann::json& json, const JsonPath& path, T& value) {
  if constexpr (std::same_as<T, double>) {
    if (json.is_null()) return void(value = 0);
    if (!json.is_number()) return wrong(path, "a number", json);
    value = json.get<double>();
  } else if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) return wrong(path, "true or false", json);
    value = json.get<bool>();
  } else if constexpr (std::integral<T>) {
    decode_integer(json, path, value);
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) return wrong(path, "a text", json);
    value = json.get_ref<const std::string&>();
  } else if constexpr (IsTextMap<T>::value) {
    if (!json.is_object()) return wrong(path, "an object", json);
    value.clear();
    for (const auto& [name, item] : json.items()) decode(item, {&path, name}, value[name]);
  } else if constexpr (IsIdMap<T>::value) {
    if (!json.is_object()) return wrong(path, "an object", json);
    value.clear();
    for (const auto& [name, item] : json.items()) {
      const auto id = T::key_type::parse(name);
      if (!id) return wrong({&path, name}, "an id as its name", item);
      decode(item, {&path, name}, value[*id]);
    }
  } else if constexpr (std::is_enum_v<T>) {
    const auto word =
        json.is_string() ? from_text<T>(json.get_ref<const std::string&>()) : std::optional<T>();
    if (!word) return wrong(path, "one of " + all_words<T>(), json);
    value = *word;
  } else if constexpr (AnyId<T>) {
    value = {};
    if (json.is_null()) return;
    const auto id =
        json.is_string() ? T::parse(json.get_ref<const std::string&>()) : std::optional<T>();
    if (!id) return wrong(path, "an id", json);
    value = *id;
  } else if constexpr (std::same_as<T, CommitId>) {
    value = {};
    if (!json.is_null()) decode(json, path, value.hex);
  } else if constexpr (std::same_as<T, base::Instant>) {
    decode_integer(json, path, value.ms);
  } else if constexpr (IsOptional<T>::value) {
    value.reset();
    if (!json.is_null()) decode(json, path, value.emplace());
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array()) return wrong(path, "a list", json);
    value.clear();
    for (std::size_t i = 0; i < json.size() && error_.empty(); ++i)
      decode(json[i], {&path, {}, i}, value.emplace_back());
  } else if constexpr (IsList<T>::value) {
    decode_list(json, path, value);
  } else {
    JsonReader reader(json, path, error_);
    describe(reader, value);
  }
}

// A whole value; Error corrupt names the key that is wrong.
template <class T>
base::Result<T> decode_json(const nlohmann::json& json, std::string_view name) {
  std::string error;
  const JsonPath path{nullptr, name};
  T value{};
  JsonReader reader(json, path, error);
  describe(reader, value);
  if (!error.empty()) return base::fail(base::ErrorCode::corrupt, error);
  return value;
}

}  // namespace hypotheses

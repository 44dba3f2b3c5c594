#include "serving/gguf/metadata.h"

#include <limits>
#include <type_traits>

namespace serving::gguf {
namespace {

std::string describe(const Value& value) {
  if (const Array* array = std::get_if<Array>(&value)) {
    return std::string("an array of ") + value_type_name(array->index());
  }
  return value_type_name(value.index());
}

tl::unexpected<Error> missing(const std::string& key) {
  return fail(ErrorCode::not_found, "metadata key '" + key + "' is missing");
}

tl::unexpected<Error> wrong(const std::string& key, const char* expected, const Value& found) {
  return fail(ErrorCode::bad_input,
              "metadata key '" + key + "': expected " + expected + ", found " + describe(found));
}

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class T>
bool fits_int64(T value) {
  return !std::is_same_v<T, std::uint64_t> ||
         std::uint64_t(value) <= std::uint64_t(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

bool Metadata::insert(std::string key, Value value) {
  return entries_.emplace(std::move(key), std::move(value)).second;
}

const Value* Metadata::find(const std::string& key) const {
  auto at = entries_.find(key);
  return at == entries_.end() ? nullptr : &at->second;
}

Result<std::int64_t> Metadata::integer(const std::string& key,
                                       std::optional<std::int64_t> fallback) const {
  const Value* value = find(key);
  if (value == nullptr) return fallback ? Result<std::int64_t>(*fallback) : missing(key);
  return std::visit(
      [&](const auto& v) -> Result<std::int64_t> {
        if constexpr (kIsInteger<std::decay_t<decltype(v)>>) {
          if (fits_int64(v)) return std::int64_t(v);
        }
        return wrong(key, "an integer that fits 64 bits with sign", *value);
      },
      *value);
}

Result<double> Metadata::number(const std::string& key, std::optional<double> fallback) const {
  const Value* value = find(key);
  if (value == nullptr) return fallback ? Result<double>(*fallback) : missing(key);
  if (const float* v = std::get_if<float>(value)) return double(*v);
  if (const double* v = std::get_if<double>(value)) return *v;
  return wrong(key, "a float", *value);
}

Result<bool> Metadata::flag(const std::string& key, bool fallback) const {
  const Value* value = find(key);
  if (value == nullptr) return fallback;
  if (const bool* v = std::get_if<bool>(value)) return *v;
  return wrong(key, "a bool", *value);
}

Result<std::string> Metadata::text(const std::string& key,
                                   std::optional<std::string> fallback) const {
  const Value* value = find(key);
  if (value == nullptr) return fallback ? Result<std::string>(*fallback) : missing(key);
  if (const std::string* v = std::get_if<std::string>(value)) return *v;
  return wrong(key, "a string", *value);
}

Result<std::vector<std::int64_t>> Metadata::integers(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return missing(key);
  const Array* array = std::get_if<Array>(value);
  if (array == nullptr) return wrong(key, "an array of integers", *value);
  return std::visit(
      [&](const auto& items) -> Result<std::vector<std::int64_t>> {
        if constexpr (!std::is_same_v<std::decay_t<decltype(items)>, std::monostate>) {
          if constexpr (kIsInteger<typename std::decay_t<decltype(items)>::value_type>) {
            std::vector<std::int64_t> out;
            out.reserve(items.size());
            for (auto item : items) {
              if (!fits_int64(item)) return wrong(key, "integers that fit 64 bits", *value);
              out.push_back(std::int64_t(item));
            }
            return out;
          }
        }
        return wrong(key, "an array of integers", *value);
      },
      *array);
}

Result<std::vector<float>> Metadata::floats(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const Array* array = std::get_if<Array>(value)) {
    if (const auto* items = std::get_if<std::vector<float>>(array)) return *items;
  }
  return wrong(key, "an array of float32", *value);
}

Result<const std::vector<std::string>*> Metadata::texts(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const Array* array = std::get_if<Array>(value)) {
    if (const auto* items = std::get_if<std::vector<std::string>>(array)) return items;
  }
  return wrong(key, "an array of strings", *value);
}

}  // namespace serving::gguf

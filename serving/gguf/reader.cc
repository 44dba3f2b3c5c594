#include "serving/gguf/reader.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace serving::gguf {
namespace {

// The smallest encoding of an element: what bounds an array's length before memory is taken.
template <class T>
constexpr std::size_t kLeastBytes = std::is_same_v<T, std::string> ? 8 : sizeof(T);

std::string quoted_key(const std::string& key) { return "metadata key '" + key + "'"; }

}  // namespace

tl::unexpected<Error> Reader::short_of(const char* what, std::uint64_t needed) const {
  return fail(ErrorCode::bad_input, std::string("file ends within ") + what + ": " +
                                        std::to_string(needed) + " bytes needed at byte " +
                                        std::to_string(offset_) + ", " + std::to_string(left()) +
                                        " left");
}

Result<bool> Reader::read_bool(const char* what) {
  const auto at = offset_;
  auto byte = read<std::uint8_t>(what);
  if (!byte) return tl::unexpected(byte.error());
  if (*byte <= 1) return *byte == 1;
  return fail(ErrorCode::bad_input, std::string(what) + " at byte " + std::to_string(at) +
                                        ": a bool is 0 or 1, found " + std::to_string(*byte));
}

Result<std::string> Reader::read_string(const char* what) {
  auto length = read<std::uint64_t>(what);
  if (!length) return tl::unexpected(length.error());
  if (*length > left()) return short_of(what, *length);
  const char* start = reinterpret_cast<const char*>(bytes_.data()) + offset_;
  offset_ += *length;
  return std::string(start, *length);
}

namespace {

template <class T>
Result<T> read_one(Reader& reader, const char* what) {
  if constexpr (std::is_same_v<T, std::string>) {
    return reader.read_string(what);
  } else if constexpr (std::is_same_v<T, bool>) {
    return reader.read_bool(what);
  } else {
    return reader.read<T>(what);
  }
}

template <class T>
Result<Array> read_items(Reader& reader, std::uint64_t count, const std::string& key) {
  if (count > reader.left() / kLeastBytes<T>) {
    return fail(ErrorCode::bad_input, quoted_key(key) + ": array of " + std::to_string(count) +
                                          " elements at byte " + std::to_string(reader.offset()) +
                                          ", but only " + std::to_string(reader.left()) +
                                          " bytes are left");
  }
  std::vector<T> items;
  items.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto item = read_one<T>(reader, "an array");
    if (!item) return tl::unexpected(item.error());
    items.push_back(std::move(*item));
  }
  return Array(std::move(items));
}

template <class T>
Result<Value> read_scalar(Reader& reader) {
  auto value = read_one<T>(reader, "a metadata value");
  if (!value) return tl::unexpected(value.error());
  return Value(std::move(*value));
}

// Calls `read` with the alternative that a type's number stands for.
template <class Variant, class Read, std::size_t... I>
auto with_type(std::uint32_t type, Read read, std::index_sequence<I...>) {
  decltype(read(std::type_identity<std::variant_alternative_t<0, Variant>>{})) result;
  (void)((type == I &&
          (result = read(std::type_identity<std::variant_alternative_t<I, Variant>>{}), true)) ||
         ...);
  return result;
}

constexpr auto kAllTypes = std::make_index_sequence<kValueTypes>{};

}  // namespace

Result<Array> Reader::read_array(const std::string& key) {
  auto type = read<std::uint32_t>("an array's type");
  if (!type) return tl::unexpected(type.error());
  auto count = read<std::uint64_t>("an array's length");
  if (!count) return tl::unexpected(count.error());
  if (*type >= kValueTypes || *type == kArrayType) {
    return fail(ErrorCode::bad_input, quoted_key(key) + ": arrays of type " +
                                          std::to_string(*type) + " (" + value_type_name(*type) +
                                          ") are not supported");
  }
  return with_type<Array>(
      *type,
      [&]<class List>(std::type_identity<List>) -> Result<Array> {
        if constexpr (std::is_same_v<List, std::monostate>) {
          return Array();  // an array of arrays: refused above
        } else {
          return read_items<typename List::value_type>(*this, *count, key);
        }
      },
      kAllTypes);
}

Result<Value> Reader::read_value(std::uint32_t type, const std::string& key) {
  if (type >= kValueTypes) {
    return fail(ErrorCode::bad_input,
                quoted_key(key) + ": value types are below " + std::to_string(kValueTypes) +
                    ", found " + std::to_string(type) + " before byte " + std::to_string(offset_));
  }
  if (type == kArrayType) return read_array(key).map([](Array&& a) { return Value(std::move(a)); });
  return with_type<Value>(
      type,
      [&]<class T>(std::type_identity<T>) -> Result<Value> {
        if constexpr (std::is_same_v<T, Array>) {
          return Value();  // read above
        } else {
          return read_scalar<T>(*this);
        }
      },
      kAllTypes);
}

}  // namespace serving::gguf

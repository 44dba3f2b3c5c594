// Values of GGUF metadata. The index of a variant's alternative is the type's number in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace serving::gguf {

// Of arrays; index 9, arrays of arrays, exists in the format and in no model: it is refused.
using Array =
    std::variant<std::vector<std::uint8_t>, std::vector<std::int8_t>, std::vector<std::uint16_t>,
                 std::vector<std::int16_t>, std::vector<std::uint32_t>, std::vector<std::int32_t>,
                 std::vector<float>, std::vector<bool>, std::vector<std::string>, std::monostate,
                 std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>>;

using Value = std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                           std::int32_t, float, bool, std::string, Array, std::uint64_t,
                           std::int64_t, double>;

inline constexpr std::size_t kArrayType = 9;
inline constexpr std::size_t kValueTypes = std::variant_size_v<Value>;

inline const char* value_type_name(std::size_t number) {
  constexpr const char* names[] = {"uint8",  "int8",    "uint16", "int16",  "uint32",
                                   "int32",  "float32", "bool",   "string", "array",
                                   "uint64", "int64",   "float64"};
  return number < kValueTypes ? names[number] : "unknown";
}

using Entry = std::pair<std::string, Value>;

}  // namespace serving::gguf

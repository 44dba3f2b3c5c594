// Element types of GGUF tensors, and single rows of them as float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace serving::gguf {

// Numbers as in the file format. Q8_0: blocks of 32 values, an F16 scale and 32 int8 each.
enum class TensorType : std::uint32_t { f32 = 0, f16 = 1, q8_0 = 8, bf16 = 30 };

inline constexpr int kBlock = 32;               // values of a Q8_0 block
inline constexpr std::size_t kBlockBytes = 34;  // of a Q8_0 block

std::optional<TensorType> tensor_type(std::uint32_t number);     // nullopt: not supported here
std::optional<TensorType> tensor_type(const std::string& text);  // "f32", "f16", "bf16", "q8_0"
const char* name(TensorType type);

// How many values stand together; a row is a whole number of these.
int block_size(TensorType type);
std::size_t row_bytes(TensorType type, std::uint64_t columns);

float from_f16(std::uint16_t bits);
std::uint16_t to_f16(float value);  // to nearest, ties to even
float from_bf16(std::uint16_t bits);
std::uint16_t to_bf16(float value);  // to nearest, ties to even

// `encoded` holds row_bytes(type, values.size()); values.size() is a multiple of the block size.
void decode_row(TensorType type, const std::byte* encoded, std::span<float> values);
void encode_row(TensorType type, std::span<const float> values, std::byte* encoded);

}  // namespace serving::gguf

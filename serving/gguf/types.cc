#include "serving/gguf/types.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace serving::gguf {
namespace {

constexpr TensorType kTypes[] = {TensorType::f32, TensorType::f16, TensorType::q8_0,
                                 TensorType::bf16};

std::uint16_t load16(const std::byte* at) {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

void store16(std::byte* at, std::uint16_t bits) { std::memcpy(at, &bits, sizeof bits); }

void decode_block(const std::byte* block, float* values) {
  const float scale = from_f16(load16(block));
  for (int i = 0; i < kBlock; ++i) values[i] = scale * float(std::int8_t(block[2 + i]));
}

// The scale makes the largest magnitude 127.
void encode_block(const float* values, std::byte* block) {
  float largest = 0;
  for (int i = 0; i < kBlock; ++i) largest = std::max(largest, std::fabs(values[i]));
  const float scale = largest / 127.0f;
  const float inverse = scale > 0 ? 1.0f / scale : 0.0f;
  store16(block, to_f16(scale));
  for (int i = 0; i < kBlock; ++i) {
    block[2 + i] = std::byte(std::int8_t(std::round(values[i] * inverse)));
  }
}

}  // namespace

std::optional<TensorType> tensor_type(std::uint32_t number) {
  for (TensorType type : kTypes) {
    if (std::uint32_t(type) == number) return type;
  }
  return std::nullopt;
}

std::optional<TensorType> tensor_type(const std::string& text) {
  for (TensorType type : kTypes) {
    if (text == name(type)) return type;
  }
  return std::nullopt;
}

const char* name(TensorType type) {
  switch (type) {
    case TensorType::f32:
      return "f32";
    case TensorType::f16:
      return "f16";
    case TensorType::q8_0:
      return "q8_0";
    case TensorType::bf16:
      return "bf16";
  }
  return "?";
}

int block_size(TensorType type) { return type == TensorType::q8_0 ? kBlock : 1; }

std::size_t row_bytes(TensorType type, std::uint64_t columns) {
  switch (type) {
    case TensorType::f32:
      return columns * 4;
    case TensorType::f16:
    case TensorType::bf16:
      return columns * 2;
    case TensorType::q8_0:
      return columns / kBlock * kBlockBytes;
  }
  return 0;
}

float from_f16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t(bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = float(mantissa) * 0x1p-24f;  // subnormal
  return sign ? -magnitude : magnitude;
}

std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = std::uint16_t(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u;   // NaN
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // rounds beyond the largest finite
  if (magnitude < 0x38800000u) {                        // subnormal: the FPU rounds to even
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p24f;
    return sign | std::uint16_t(std::nearbyint(scaled));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return sign | std::uint16_t((rounded >> 13) - (112u << 10));
}

float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return std::uint16_t(bits >> 16 | 0x40u);  // quiet NaN
  return std::uint16_t((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

void decode_row(TensorType type, const std::byte* encoded, std::span<float> values) {
  switch (type) {
    case TensorType::f32:
      std::memcpy(values.data(), encoded, values.size_bytes());
      return;
    case TensorType::f16:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = from_f16(load16(encoded + 2 * i));
      return;
    case TensorType::bf16:
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = from_bf16(load16(encoded + 2 * i));
      }
      return;
    case TensorType::q8_0:
      for (std::size_t i = 0; i < values.size(); i += kBlock) {
        decode_block(encoded + i / kBlock * kBlockBytes, &values[i]);
      }
      return;
  }
}

void encode_row(TensorType type, std::span<const float> values, std::byte* encoded) {
  switch (type) {
    case TensorType::f32:
      std::memcpy(encoded, values.data(), values.size_bytes());
      return;
    case TensorType::f16:
      for (std::size_t i = 0; i < values.size(); ++i) store16(encoded + 2 * i, to_f16(values[i]));
      return;
    case TensorType::bf16:
      for (std::size_t i = 0; i < values.size(); ++i) store16(encoded + 2 * i, to_bf16(values[i]));
      return;
    case TensorType::q8_0:
      for (std::size_t i = 0; i < values.size(); i += kBlock) {
        encode_block(&values[i], encoded + i / kBlock * kBlockBytes);
      }
      return;
  }
}

}  // namespace serving::gguf

// How packed weights and quantised activations lie in memory, the same for all instruction sets.
//
// Rows go in panels of 16, the lanes of a vector; rows beyond the last are zero.
//   f32, f16   [cols][16]
//   bf16       [cols / 2][16][2], columns padded to a multiple of 32
//   q8_0       f16 scales [blocks][16], padded to 64 bytes, then [blocks][8][16][4] bytes
//   i8         fp32 scales [16], then [cols / 4][16][4] bytes, columns padded to a multiple of 64
// Bytes are value + 128: VNNI and AMX multiply unsigned by signed. sum w x = sum (w + 128) x - 128
// sum x, and the second term is made once a token, with the activations.
//
// The input of a token (q8_0, i8; bf16 for AMX):
//   q8_0       fp32 scales [blocks], int32 offsets [blocks], padded to 64 bytes, then int8 [cols]
//   i8         fp32 scale, int32 offset, padded to 64 bytes, then int8 [cols padded to 64]
//   bf16       [cols padded to 32]
// with offset = -128 sum of the int8 values that the scale belongs to.
#pragma once

#include "kernels/matmul/matmul.h"

namespace kernels::matmul {

inline constexpr int kPanel = 16;
inline constexpr int kQuad = 4;  // columns that one dot-product instruction takes at once
inline constexpr std::size_t kLine = 64;

constexpr std::size_t round_up(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

constexpr int padded_cols(int cols) { return int(round_up(std::size_t(cols), 64)); }

// Of a q8_0 panel, where its bytes start.
constexpr std::size_t panel_scales(int cols) {
  return round_up(std::size_t(cols) / kBlock * kPanel * 2, kLine);
}

constexpr std::size_t panel_bytes(DType type, int cols) {
  const std::size_t columns = std::size_t(cols);
  switch (type) {
    case DType::f32:
      return columns * kPanel * 4;
    case DType::f16:
      return round_up(columns * kPanel * 2, kLine);
    case DType::bf16:
      return round_up(columns, 32) * kPanel * 2;
    case DType::q8_0:
      return panel_scales(cols) + columns * kPanel;
    case DType::i8:
      return kLine + std::size_t(padded_cols(cols)) * kPanel;
  }
  return 0;
}

// Of a token's quantised input, where its int8 values start.
constexpr std::size_t input_values(DType type, int cols) {
  return type == DType::q8_0 ? round_up(std::size_t(cols) / kBlock * 8, kLine) : kLine;
}

}  // namespace kernels::matmul

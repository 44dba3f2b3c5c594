// A tile of the product, what each instruction set computes: some tokens times some panels. The
// caller cuts the work into tiles and copies them out, so that these functions know no ranges and
// no tails.
#pragma once

#include "kernels/matmul/layout.h"

namespace kernels::matmul {

struct Tile {
  const std::byte* panels = nullptr;  // packed, one after the other
  std::size_t panel_stride = 0;       // bytes
  const std::byte* inputs = nullptr;  // of the tokens: x itself, or quantised
  std::size_t input_stride = 0;       // bytes
  int cols = 0;
  float* out = nullptr;  // [tokens, panels * 16]
};

// Computes a tile of 1 .. max_tokens times 1 .. max_panels.
struct TileKernel {
  int max_tokens = 0;
  int max_panels = 0;
  void (*run)(const Tile& tile, int tokens, int panels) = nullptr;
};

inline constexpr int kMaxTileTokens = 32;
inline constexpr int kMaxTilePanels = 4;

// Of each instruction set, the kernels of its own; null where it takes the one below.
struct TileKernels {
  TileKernel f32, f16, bf16, q8_0, i8;
};
extern const TileKernels kGeneric, kAvx2, kAvx512, kVnni, kAmx;

// Whether activations are rounded to bf16 before the product.
constexpr bool rounds_input_to_bf16(Isa isa, DType type) {
  return isa == Isa::amx && type == DType::bf16;
}

}  // namespace kernels::matmul

#include "kernels/matmul/matmul.h"

#include <algorithm>
#include <cstring>

#include "kernels/matmul/tile.h"
#include "kernels/quantize/quantize.h"

namespace kernels::matmul {
namespace {

const TileKernel& own_kernel(const TileKernels& kernels, DType type) {
  switch (type) {
    case DType::f32:
      return kernels.f32;
    case DType::f16:
      return kernels.f16;
    case DType::bf16:
      return kernels.bf16;
    case DType::q8_0:
      return kernels.q8_0;
    case DType::i8:
      break;
  }
  return kernels.i8;
}

// The instruction set's own kernel, or the nearest below that has one.
const TileKernel& kernel_of(Isa isa, DType type) {
#ifdef __x86_64__
  const TileKernels* const all[] = {&kGeneric, &kAvx2, &kAvx512, &kVnni, &kAmx};
#else
  const TileKernels* const all[] = {&kGeneric};
#endif
  int i = int(isa);
  while (!own_kernel(*all[i], type).run) --i;
  return own_kernel(*all[i], type);
}

int sum_of(const std::int8_t* q, int size) {
  int sum = 0;
  for (int i = 0; i < size; ++i) sum += q[i];
  return sum;
}

void quantize_blocks(const float* x, int cols, std::byte* input) {
  const int blocks = cols / kBlock;
  auto* scales = reinterpret_cast<float*>(input);
  auto* offsets = reinterpret_cast<std::int32_t*>(scales + blocks);
  auto* q = reinterpret_cast<std::int8_t*>(input + input_values(DType::q8_0, cols));
  for (int b = 0; b < blocks; ++b, q += kBlock) {
    scales[b] = quantize::to_i8(x + b * kBlock, kBlock, q);
    offsets[b] = -128 * sum_of(q, kBlock);
  }
}

void quantize_row(const float* x, int cols, std::byte* input) {
  auto* q = reinterpret_cast<std::int8_t*>(input + input_values(DType::i8, cols));
  const float scale = quantize::to_i8(x, cols, q);
  std::fill(q + cols, q + padded_cols(cols), std::int8_t{0});
  const std::int32_t offset = -128 * sum_of(q, cols);
  std::memcpy(input, &scale, sizeof scale);
  std::memcpy(input + sizeof scale, &offset, sizeof offset);
}

void round_row(const float* x, int cols, std::size_t bytes, std::byte* input) {
  auto* halves = reinterpret_cast<std::uint16_t*>(input);
  quantize::to_bf16(x, cols, halves);
  std::fill(halves + cols, halves + bytes / sizeof *halves, std::uint16_t{0});
}

// Copies the rows of a tile that were asked for.
void copy_out(const float* tile, int first_row, int panels, Range tokens, Range rows, int all_rows,
              float* y) {
  const int begin = std::max(first_row, rows.begin);
  const int end = std::min(first_row + panels * kPanel, rows.end);
  for (int t = tokens.begin; t < tokens.end; ++t, tile += panels * kPanel) {
    std::copy(tile + (begin - first_row), tile + (end - first_row),
              y + std::size_t(t) * all_rows + begin);
  }
}

}  // namespace

std::size_t input_bytes(Isa isa, DType type, int cols) {
  if (type == DType::q8_0) return round_up(input_values(type, cols) + std::size_t(cols), kLine);
  if (type == DType::i8) return input_values(type, cols) + std::size_t(padded_cols(cols));
  if (rounds_input_to_bf16(isa, type)) return round_up(std::size_t(cols) * 2, kLine);
  return 0;
}

void quantize_input(Isa isa, DType type, int cols, const float* x, Range tokens, std::byte* input) {
  const std::size_t bytes = input_bytes(isa, type, cols);
  if (bytes == 0) return;
  for (int t = tokens.begin; t < tokens.end; ++t) {
    const float* row = x + std::size_t(t) * cols;
    std::byte* to = input + bytes * std::size_t(t);
    if (type == DType::q8_0) {
      quantize_blocks(row, cols, to);
    } else if (type == DType::i8) {
      quantize_row(row, cols, to);
    } else {
      round_row(row, cols, bytes, to);
    }
  }
}

// Panels outside, tokens inside: the weights of a tile are read from memory once for all tokens.
void multiply(Isa isa, const PackedMatrix& w, const float* x, const std::byte* input, Range tokens,
              Range rows, float* y) {
  const TileKernel& kernel = kernel_of(isa, w.type);
  const std::size_t quantised = input_bytes(isa, w.type, w.cols);
  alignas(kLine) float out[kMaxTileTokens * kMaxTilePanels * kPanel];
  Tile tile;
  tile.panel_stride = panel_bytes(w.type, w.cols);
  tile.input_stride = quantised ? quantised : sizeof(float) * std::size_t(w.cols);
  tile.cols = w.cols;
  tile.out = out;
  const std::byte* inputs = quantised ? input : reinterpret_cast<const std::byte*>(x);
  const int last_panel = panels_of(rows.end);
  for (int p = rows.begin / kPanel; p < last_panel; p += kernel.max_panels) {
    const int panels = std::min(kernel.max_panels, last_panel - p);
    tile.panels = w.data + tile.panel_stride * std::size_t(p);
    for (int t = tokens.begin; t < tokens.end; t += kernel.max_tokens) {
      const Range some = {t, std::min(t + kernel.max_tokens, tokens.end)};
      tile.inputs = inputs + tile.input_stride * std::size_t(t);
      kernel.run(tile, some.size(), panels);
      copy_out(out, p * kPanel, panels, some, rows, w.rows, y);
    }
  }
}

}  // namespace kernels::matmul

#include <algorithm>
#include <cassert>
#include <cstring>

#include "kernels/matmul/layout.h"

namespace kernels::matmul {
namespace {

const std::byte* row_of(const MatrixView& m, int row) {
  return static_cast<const std::byte*>(m.data) + row_bytes(m.type, m.cols) * std::size_t(row);
}

// Element `col` of `row`, `width` bytes, to place `at` of the panel.
void copy_element(const MatrixView& m, int row, int col, int width, std::byte* panel,
                  std::size_t at) {
  std::memcpy(panel + at * width, row_of(m, row) + std::size_t(col) * width, std::size_t(width));
}

void pack_floats(const MatrixView& m, int first, int rows, std::byte* panel) {
  const int width = m.type == DType::f32 ? 4 : 2;
  for (int lane = 0; lane < rows; ++lane) {
    for (int c = 0; c < m.cols; ++c) {
      const std::size_t column = std::size_t(c);
      const std::size_t at = m.type == DType::bf16 ? (column / 2 * kPanel + lane) * 2 + column % 2
                                                   : column * kPanel + lane;
      copy_element(m, first + lane, c, width, panel, at);
    }
  }
}

// int8 value + 128; padding is 128, a zero.
void pack_bytes(const std::byte* values, int size, int lane, int col, std::byte* quads) {
  for (int i = 0; i < size; ++i) {
    const std::size_t column = std::size_t(col) + std::size_t(i);
    quads[(column / kQuad * kPanel + lane) * kQuad + column % kQuad] = values[i] ^ std::byte{0x80};
  }
}

void pack_q8_0(const MatrixView& m, int first, int rows, std::byte* panel) {
  std::byte* quads = panel + panel_scales(m.cols);
  std::memset(quads, 0x80, std::size_t(m.cols) * kPanel);
  for (int lane = 0; lane < rows; ++lane) {
    const std::byte* block = row_of(m, first + lane);
    for (int c = 0; c < m.cols; c += kBlock, block += kBlockBytes) {
      std::memcpy(panel + (std::size_t(c / kBlock) * kPanel + lane) * 2, block, 2);
      pack_bytes(block + 2, kBlock, lane, c, quads);
    }
  }
}

void pack_i8(const MatrixView& m, int first, int rows, std::byte* panel) {
  std::byte* quads = panel + kLine;
  std::memset(quads, 0x80, std::size_t(padded_cols(m.cols)) * kPanel);
  std::memcpy(panel, m.scales + first, std::size_t(rows) * sizeof(float));
  for (int lane = 0; lane < rows; ++lane) {
    pack_bytes(row_of(m, first + lane), m.cols, lane, 0, quads);
  }
}

}  // namespace

int panels_of(int rows) { return (rows + kPanel - 1) / kPanel; }

std::size_t packed_bytes(DType type, int rows, int cols) {
  return panel_bytes(type, cols) * std::size_t(panels_of(rows));
}

PackedMatrix pack(const MatrixView& from, Range panels, std::byte* memory) {
  assert(from.type != DType::q8_0 || from.cols % kBlock == 0);
  assert(from.type != DType::i8 || from.cols <= 65536);
  const std::size_t bytes = panel_bytes(from.type, from.cols);
  for (int p = panels.begin; p < panels.end; ++p) {
    std::byte* panel = memory + bytes * std::size_t(p);
    const int first = p * kPanel;
    const int rows = std::min(kPanel, from.rows - first);
    std::memset(panel, 0, bytes);
    if (from.type == DType::q8_0) {
      pack_q8_0(from, first, rows, panel);
    } else if (from.type == DType::i8) {
      pack_i8(from, first, rows, panel);
    } else {
      pack_floats(from, first, rows, panel);
    }
  }
  return {from.type, from.rows, from.cols, memory};
}

}  // namespace kernels::matmul

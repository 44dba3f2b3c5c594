// What all ops of an engine speak: element types, ranges of work, and weights as a GGUF file holds
// them.
//
// Contract of every op (kernels/README.md, "Batch invariance"): on one instruction set, what a
// token gets is bit-identical whatever the number and order of the tokens in a call, however the
// work is cut into ranges, and however a prompt is cut into chunks. Ops know no threads and
// allocate nothing. Activations are fp32, row-major, densely packed: [tokens, dim] has token t at
// dim * t.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels {

// Element types of weights and caches.
//   q8_0: blocks of 32 values along a row, each {f16 scale, 32 x int8}; value = scale * int8.
//   i8: int8 with one fp32 scale a row, kept apart from the values.
enum class DType : std::uint8_t { f32, f16, bf16, q8_0, i8 };

inline constexpr int kBlock = 32;           // values of a q8_0 block
inline constexpr int kBlockBytes = 2 + 32;  // its bytes in a file

// Tokens, heads or rows that one call works on: [begin, end).
struct Range {
  int begin = 0;
  int end = 0;
  int size() const { return end - begin; }
};

// Weights as the file holds them: `rows` outputs of `cols` contiguous inputs. For q8_0 `cols` is a
// multiple of 32. The memory needs no alignment.
struct MatrixView {
  DType type = DType::f32;
  int rows = 0;
  int cols = 0;
  const void* data = nullptr;
  const float* scales = nullptr;  // [rows], i8 only
};

// Bytes of one row of a MatrixView (of an i8 row without its scale).
inline std::size_t row_bytes(DType type, int cols) {
  switch (type) {
    case DType::f32:
      return std::size_t(cols) * 4;
    case DType::f16:
    case DType::bf16:
      return std::size_t(cols) * 2;
    case DType::q8_0:
      return std::size_t(cols) / kBlock * kBlockBytes;
    case DType::i8:
      return std::size_t(cols);
  }
  return 0;
}

}  // namespace kernels

// y[t, r] = sum_c w[r, c] x[t, c]: weights packed once at load, activations in fp32.
//
// In each instruction set an output is summed over c in one order, that of the columns, so that it
// does not depend on how many tokens or rows a call has. q8_0 and i8 multiply int8 by int8 exactly:
// the activations of a token are quantised first (`quantize_input`), by blocks of 32 for q8_0 and
// by whole rows for i8 (W8A8: a scale per channel and a scale per token), which has at most 65,536
// columns, so that its sums fit into int32.
#pragma once

#include "kernels/tensor.h"

namespace kernels::matmul {

// Each is a superset of the one before. vnni: AVX-512 VNNI, for int8; amx: tiles, for bf16 and
// int8.
enum class Isa { generic, avx2, avx512, vnni, amx };

// The best of this machine, or the one that `wanted` names (the environment's NIGHTSHIFT_ISA; null
// or empty: the best). Asks Linux for the use of AMX where the machine has it. Throws
// std::invalid_argument where `wanted` is unknown or beyond this machine.
Isa choose_isa(const char* wanted);
bool supports(Isa isa);
const char* name(Isa isa);

// Weights in panels of 16 rows, a layout that all instruction sets share (layout.h).
struct PackedMatrix {
  DType type = DType::f32;
  int rows = 0;
  int cols = 0;
  const std::byte* data = nullptr;  // 64-byte aligned, owned by the caller
};

// Bytes of the packed form; a little more than the file's, for rows and columns that are padded.
std::size_t packed_bytes(DType type, int rows, int cols);

// Packs panels for `panels` of [0, panels_of(rows)), so that threads can share the work; the result
// is whole when all are done. `memory` holds packed_bytes() and is 64-byte aligned.
int panels_of(int rows);
PackedMatrix pack(const MatrixView& from, Range panels, std::byte* memory);

// Bytes a token of what multiply() reads beside x: 0 where it reads x itself. Depends on isa, type
// and cols only, and so does the content: matrices alike in these can share it.
std::size_t input_bytes(Isa isa, DType type, int cols);

// input [tokens, input_bytes()], 64-byte aligned, from x [tokens, cols]. Nothing to do where
// input_bytes() is 0.
void quantize_input(Isa isa, DType type, int cols, const float* x, Range tokens, std::byte* input);

// y [tokens, w.rows], elements [tokens] x [rows] of it. Rows are cut at multiples of 16 (the last
// may end anywhere); a cut elsewhere is right too, but repeats work.
void multiply(Isa isa, const PackedMatrix& w, const float* x, const std::byte* input, Range tokens,
              Range rows, float* y);

}  // namespace kernels::matmul

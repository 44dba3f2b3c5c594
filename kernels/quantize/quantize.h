// Rows between fp32 and narrower types, round to nearest even throughout. A row or block with a
// NaN or an infinity gets it as its scale, so that it is not lost in int8.
#pragma once

#include "kernels/tensor.h"

namespace kernels::quantize {

// max|x| / 127, the scale that int8 values of a row are multiples of.
float i8_scale(const float* x, int size);

// One row to int8 with that scale, which it gives. A row of zeros has scale 0.
float to_i8(const float* x, int size, std::int8_t* q);
void from_i8(const std::int8_t* q, float scale, int size, float* x);

void to_f16(const float* x, int size, std::uint16_t* h);
void from_f16(const std::uint16_t* h, int size, float* x);
void to_bf16(const float* x, int size, std::uint16_t* h);
void from_bf16(const std::uint16_t* h, int size, float* x);

// q8_0 blocks as a file holds them; size is a multiple of 32.
void to_q8_0(const float* x, int size, std::byte* blocks);
void from_q8_0(const std::byte* blocks, int size, float* x);

// One row of a matrix as fp32 (an embedding, say); x [m.cols].
void decode_row(const MatrixView& m, int row, float* x);

}  // namespace kernels::quantize

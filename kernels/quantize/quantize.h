// Rows between fp32 and narrower types, round to nearest even throughout. A row or block with a
// NaN or an infinity gets it as its scale, so that it is not lost in int8.
#pragma once

#include "kernels/tensor.h"

namespace kernels::quantize {

// max|x| / 127, the scale whose multiples the int8 values of a row stand for; 0 for a row of zeros.
float i8_scale(const float* x, int size);
// What values are multiplied by before they are rounded: 1 / scale, or 0 where that is no number.
float i8_factor(float scale);
void round_to_i8(const float* x, float factor, int size, std::int8_t* q);

// The three above for one row; gives the scale.
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

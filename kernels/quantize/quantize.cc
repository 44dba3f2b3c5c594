#include "kernels/quantize/quantize.h"

#include <algorithm>

#include "kernels/narrow.h"

namespace kernels::quantize {
namespace {

// Whole vectors in place, the tail through a buffer: f(x, q) handles kLanes elements.
template <class X, class Q, class F>
void each_vector(X* x, Q* q, int size, F f) {
  int i = 0;
  for (; i + kLanes <= size; i += kLanes) f(x + i, q + i);
  const int left = size - i;
  if (left <= 0) return;
  std::remove_const_t<X> some_x[kLanes] = {};
  std::remove_const_t<Q> some_q[kLanes] = {};
  std::copy_n(x + i, left, some_x);
  std::copy_n(q + i, left, some_q);
  f(some_x, some_q);
  if constexpr (!std::is_const_v<X>) std::copy_n(some_x, left, x + i);
  if constexpr (!std::is_const_v<Q>) std::copy_n(some_q, left, q + i);
}

// Of |x|, by its bits, which order as the values do; a NaN is larger than all and so reaches the
// scale.
float largest(const float* x, int size) {
  const auto bits = [](Vector v) { return hn::BitCast(kInt, hn::Abs(v)); };
  auto top = hn::Zero(kInt);
  int i = 0;
  for (; i + kLanes <= size; i += kLanes) top = hn::Max(top, bits(load(x + i)));
  if (i < size) top = hn::Max(top, bits(load_tail(x + i, size - i)));
  return hn::GetLane(hn::BitCast(kF, hn::MaxOfLanes(kInt, top)));
}

}  // namespace

float i8_scale(const float* x, int size) { return largest(x, size) / 127.0f; }

// Rows too small for a normal reciprocal count as zeros.
float i8_factor(float scale) { return scale > 1e-37f ? 1.0f / scale : 0.0f; }

void round_to_i8(const float* x, float factor, int size, std::int8_t* q) {
  each_vector(x, q, size, [=](const float* from, std::int8_t* to) {
    store_i8(hn::Mul(load(from), set(factor)), to);
  });
}

float to_i8(const float* x, int size, std::int8_t* q) {
  const float scale = i8_scale(x, size);
  round_to_i8(x, i8_factor(scale), size, q);
  return scale;
}

void from_i8(const std::int8_t* q, float scale, int size, float* x) {
  each_vector(q, x, size, [=](const std::int8_t* from, float* to) {
    store(hn::Mul(load_i8(from), set(scale)), to);
  });
}

void to_f16(const float* x, int size, std::uint16_t* h) {
  each_vector(x, h, size, [](const float* from, std::uint16_t* to) { store_f16(load(from), to); });
}
void from_f16(const std::uint16_t* h, int size, float* x) {
  each_vector(h, x, size, [](const std::uint16_t* from, float* to) { store(load_f16(from), to); });
}

void to_bf16(const float* x, int size, std::uint16_t* h) {
  each_vector(x, h, size, [](const float* from, std::uint16_t* to) { store_bf16(load(from), to); });
}
void from_bf16(const std::uint16_t* h, int size, float* x) {
  each_vector(h, x, size, [](const std::uint16_t* from, float* to) { store(load_bf16(from), to); });
}

void to_q8_0(const float* x, int size, std::byte* blocks) {
  for (int i = 0; i < size; i += kBlock, blocks += kBlockBytes) {
    const float scale = i8_scale(x + i, kBlock);
    std::uint16_t half;
    to_f16(&scale, 1, &half);
    std::memcpy(blocks, &half, sizeof half);
    round_to_i8(x + i, i8_factor(scale), kBlock, reinterpret_cast<std::int8_t*>(blocks + 2));
  }
}

void from_q8_0(const std::byte* blocks, int size, float* x) {
  for (int i = 0; i < size; i += kBlock, blocks += kBlockBytes) {
    std::uint16_t half;
    std::memcpy(&half, blocks, sizeof half);
    float scale;
    from_f16(&half, 1, &scale);
    from_i8(reinterpret_cast<const std::int8_t*>(blocks + 2), scale, kBlock, x + i);
  }
}

void decode_row(const MatrixView& m, int row, float* x) {
  const auto* data = static_cast<const std::byte*>(m.data) + row_bytes(m.type, m.cols) * row;
  switch (m.type) {
    case DType::f32:
      std::memcpy(x, data, row_bytes(m.type, m.cols));
      return;
    case DType::f16:
      return from_f16(reinterpret_cast<const std::uint16_t*>(data), m.cols, x);
    case DType::bf16:
      return from_bf16(reinterpret_cast<const std::uint16_t*>(data), m.cols, x);
    case DType::q8_0:
      return from_q8_0(data, m.cols, x);
    case DType::i8:
      return from_i8(reinterpret_cast<const std::int8_t*>(data), m.scales[row], m.cols, x);
  }
}

}  // namespace kernels::quantize

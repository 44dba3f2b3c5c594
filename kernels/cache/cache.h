// Pages of a layer's attention cache. A page holds `page_tokens` positions of all heads; positions
// come in groups of 16, which every attention here reads in order, so that the size of a page never
// changes a result. What was never written never reaches one.
//
//   page, head, group:  rows     [16, dim]   values, latents: a position is contiguous
//                       columns  [dim, 16]   keys: a dimension of 16 positions is one vector
//   then, for i8, 16 fp32 scales, one a position.
#pragma once

#include "kernels/tensor.h"

namespace kernels::cache {

inline constexpr int kGroup = 16;

enum class Order { rows, columns };

struct Pages {
  DType type = DType::f32;  // f32, f16 or i8
  Order order = Order::rows;
  int page_tokens = kGroup;  // multiple of 16
  int heads = 1;             // of keys and values
  int dim = 0;
  std::byte* data = nullptr;  // 64-byte aligned; page p starts at p * page_bytes()

  std::size_t group_bytes() const;
  std::size_t page_bytes() const { return group_bytes() * (page_tokens / kGroup) * heads; }
  // The group of `position` in the sequence whose pages are `table`.
  std::byte* group(const std::int32_t* table, int head, int position) const;
};

// Writes x [tokens, heads, dim] to positions `position` + tokens of the sequence. int8 rounds to
// nearest with scale = max|x| / 127.
void write(const Pages& pages, const std::int32_t* table, int position, Range tokens, Range heads,
           const float* x);

// Reads positions back: x [tokens, heads, dim].
void read(const Pages& pages, const std::int32_t* table, int position, Range tokens, Range heads,
          float* x);

// The first `count` positions of a group as fp32 in the pages' own order; f32 pages are not copied.
// `scratch` [16 * dim], 64-byte aligned.
const float* decoded_group(const Pages& pages, const std::byte* group, int count, float* scratch);

}  // namespace kernels::cache

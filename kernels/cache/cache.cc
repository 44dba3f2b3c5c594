#include "kernels/cache/cache.h"

#include <algorithm>

#include "kernels/narrow.h"
#include "kernels/quantize/quantize.h"

namespace kernels::cache {
namespace {

std::size_t element_bytes(DType type) { return row_bytes(type, 1); }

// Where element (position, d) of a group is, and how far the position's next element.
struct Place {
  std::size_t first;
  std::size_t step;
};
Place place_of(const Pages& pages, int at) {
  if (pages.order == Order::rows) return {std::size_t(at) * pages.dim, 1};
  return {std::size_t(at), kGroup};
}

// Of an i8 group.
float* scales_of(const Pages& pages, std::byte* group) {
  return reinterpret_cast<float*>(group + std::size_t(kGroup) * pages.dim);
}
const float* scales_of(const Pages& pages, const std::byte* group) {
  return reinterpret_cast<const float*>(group + std::size_t(kGroup) * pages.dim);
}

// Narrows a row by pieces, and puts each element where it belongs.
template <class T, class Narrow>
void scatter(const Pages& pages, std::byte* group, int at, const float* x, const Narrow& narrow) {
  const Place place = place_of(pages, at);
  T* to = reinterpret_cast<T*>(group) + place.first;
  for (int d = 0; d < pages.dim; d += kGroup) {
    T piece[kGroup];
    const int some = std::min(kGroup, pages.dim - d);
    narrow(x + d, some, piece);
    for (int i = 0; i < some; ++i) to[(d + i) * place.step] = piece[i];
  }
}

void write_row(const Pages& pages, std::byte* group, int at, const float* x) {
  if (pages.type == DType::f16) {
    scatter<std::uint16_t>(pages, group, at, x, quantize::to_f16);
  } else if (pages.type == DType::i8) {
    const float scale = quantize::i8_scale(x, pages.dim);
    scales_of(pages, group)[at] = scale;
    const float factor = quantize::i8_factor(scale);
    const auto round = [=](const float* some, int size, std::int8_t* q) {
      quantize::round_to_i8(some, factor, size, q);
    };
    scatter<std::int8_t>(pages, group, at, x, round);
  } else {
    const auto copy = [](const float* some, int size, float* y) { std::copy_n(some, size, y); };
    scatter<float>(pages, group, at, x, copy);
  }
}

void decode_i8(const Pages& pages, const std::byte* group, int count, float* out) {
  const auto* q = reinterpret_cast<const std::int8_t*>(group);
  const float* scales = scales_of(pages, group);
  if (pages.order == Order::rows) {
    for (int at = 0; at < count; ++at) {
      const std::size_t row = std::size_t(at) * pages.dim;
      quantize::from_i8(q + row, scales[at], pages.dim, out + row);
    }
    return;
  }
  for (int lane = 0; lane < kGroup; lane += kLanes) {
    const Vector scale = load(scales + lane);
    for (int d = 0; d < pages.dim; ++d) {
      const std::size_t at = std::size_t(d) * kGroup + lane;
      store(hn::Mul(load_i8(q + at), scale), out + at);
    }
  }
}

// Element by element: for tests and for moving a cache, not for attention.
void read_row(const Pages& pages, const std::byte* group, int at, float* x) {
  const Place place = place_of(pages, at);
  for (int d = 0; d < pages.dim; ++d) {
    const std::size_t i = place.first + d * place.step;
    if (pages.type == DType::i8) {
      const auto* q = reinterpret_cast<const std::int8_t*>(group) + i;
      quantize::from_i8(q, scales_of(pages, group)[at], 1, x + d);
    } else if (pages.type == DType::f16) {
      quantize::from_f16(reinterpret_cast<const std::uint16_t*>(group) + i, 1, x + d);
    } else {
      x[d] = reinterpret_cast<const float*>(group)[i];
    }
  }
}

}  // namespace

std::size_t Pages::group_bytes() const {
  const std::size_t values = element_bytes(type) * kGroup * dim;
  return values + (type == DType::i8 ? kGroup * sizeof(float) : 0);
}

std::byte* Pages::group(const std::int32_t* table, int head, int position) const {
  const int groups = page_tokens / kGroup;
  const std::size_t page = std::size_t(table[position / page_tokens]);
  const std::size_t in_page = std::size_t(head) * groups + position % page_tokens / kGroup;
  return data + (page * heads * groups + in_page) * group_bytes();
}

void write(const Pages& pages, const std::int32_t* table, int position, Range tokens, Range heads,
           const float* x) {
  for (int t = tokens.begin; t < tokens.end; ++t) {
    for (int h = heads.begin; h < heads.end; ++h) {
      std::byte* group = pages.group(table, h, position + t);
      write_row(pages, group, (position + t) % kGroup,
                x + (std::size_t(t) * pages.heads + h) * pages.dim);
    }
  }
}

void read(const Pages& pages, const std::int32_t* table, int position, Range tokens, Range heads,
          float* x) {
  for (int t = tokens.begin; t < tokens.end; ++t) {
    for (int h = heads.begin; h < heads.end; ++h) {
      const std::byte* group = pages.group(table, h, position + t);
      read_row(pages, group, (position + t) % kGroup,
               x + (std::size_t(t) * pages.heads + h) * pages.dim);
    }
  }
}

const float* decoded_group(const Pages& pages, const std::byte* group, int count, float* scratch) {
  if (pages.type == DType::f32) return reinterpret_cast<const float*>(group);
  if (pages.type == DType::i8) {
    decode_i8(pages, group, count, scratch);
  } else {
    const int positions = pages.order == Order::rows ? count : kGroup;
    quantize::from_f16(reinterpret_cast<const std::uint16_t*>(group), positions * pages.dim,
                       scratch);
  }
  return scratch;
}

}  // namespace kernels::cache

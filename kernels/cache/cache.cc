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

float* scales_of(const Pages& pages, std::byte* group) {
  return reinterpret_cast<float*>(group + std::size_t(kGroup) * pages.dim);
}

// Copies a narrowed row piece to where its elements belong.
template <class T>
void scatter(const Pages& pages, std::byte* group, int at, const float* x,
             void (*narrow)(const float*, int, T*)) {
  const Place place = place_of(pages, at);
  T* to = reinterpret_cast<T*>(group) + place.first;
  for (int d = 0; d < pages.dim; d += kGroup) {
    T piece[kGroup];
    const int some = std::min(kGroup, pages.dim - d);
    narrow(x + d, some, piece);
    for (int i = 0; i < some; ++i) to[(d + i) * place.step] = piece[i];
  }
}

void copy_f32(const float* x, int size, float* y) { std::copy_n(x, size, y); }

void store_i8_row(const Pages& pages, std::byte* group, int at, const float* x) {
  const float scale = quantize::i8_scale(x, pages.dim);
  scales_of(pages, group)[at] = scale;
  const float factor = scale > 1e-37f ? 1.0f / scale : 0.0f;
  const Place place = place_of(pages, at);
  auto* to = reinterpret_cast<std::int8_t*>(group) + place.first;
  for (int d = 0; d < pages.dim; ++d) {
    to[d * place.step] = std::int8_t(std::nearbyint(x[d] * factor));
  }
}

void store_row(const Pages& pages, std::byte* group, int at, const float* x) {
  if (pages.type == DType::f16) return scatter(pages, group, at, x, quantize::to_f16);
  if (pages.type == DType::i8) return store_i8_row(pages, group, at, x);
  scatter(pages, group, at, x, copy_f32);
}

// Decodes `rows` runs of `run` elements that lie one after the other.
void decode_i8(const Pages& pages, const std::byte* group, int count, float* out) {
  const auto* q = reinterpret_cast<const std::int8_t*>(group);
  const auto* scales = reinterpret_cast<const float*>(group + std::size_t(kGroup) * pages.dim);
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
      store_row(pages, group, (position + t) % kGroup,
                x + (std::size_t(t) * pages.heads + h) * pages.dim);
    }
  }
}

void read(const Pages& pages, const std::int32_t* table, int position, Range tokens, Range heads,
          float* x) {
  for (int t = tokens.begin; t < tokens.end; ++t) {
    for (int h = heads.begin; h < heads.end; ++h) {
      const int at = (position + t) % kGroup;
      const std::byte* group = pages.group(table, h, position + t);
      const Place place = place_of(pages, at);
      float* row = x + (std::size_t(t) * pages.heads + h) * pages.dim;
      for (int d = 0; d < pages.dim; ++d) {
        const std::size_t i = place.first + d * place.step;
        if (pages.type == DType::i8) {
          const float scale =
              reinterpret_cast<const float*>(group + std::size_t(kGroup) * pages.dim)[at];
          row[d] = float(reinterpret_cast<const std::int8_t*>(group)[i]) * scale;
        } else if (pages.type == DType::f16) {
          quantize::from_f16(reinterpret_cast<const std::uint16_t*>(group) + i, 1, row + d);
        } else {
          row[d] = reinterpret_cast<const float*>(group)[i];
        }
      }
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

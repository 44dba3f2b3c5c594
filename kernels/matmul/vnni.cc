// int8 tiles with AVX-512 VNNI: an instruction multiplies 16 rows' quads of unsigned weights by a
// token's quad of signed values.
#include <immintrin.h>

#include "kernels/matmul/tile.h"

namespace kernels::matmul {
namespace {

constexpr int kVnniTokens = 6;
constexpr int kVnniPanels = 4;

inline __m512i quad_of(const std::int8_t* x) {
  int four;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

// sum += w . x by quads. Written out: g++ 12 copies the intrinsic's sum, and runs out of registers.
inline void add_dot(__m512i& sum, __m512i w, __m512i x) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(w), "v"(x));
}

// The int32 sums of a tile; they start at the tokens' offsets (layout.h).
template <int kTokens, int kPanels>
struct Dots {
  __m512i sum[kTokens][kPanels];

  // Four columns: the panels' quads and the first token's values there.
  __attribute__((always_inline)) void add(const std::byte* quads, std::size_t panel_stride,
                                          const std::int8_t* x, std::size_t input_stride) {
    __m512i w[kPanels];
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) w[p] = _mm512_loadu_si512(quads + p * panel_stride);
#pragma GCC unroll 6
    for (int t = 0; t < kTokens; ++t) {
      const __m512i four = quad_of(x + t * input_stride);
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) add_dot(sum[t][p], w[p], four);
    }
  }
};

template <int kTokens, int kPanels>
void q8_0_tile(const Tile& tile, int out_stride) {
  const int blocks = tile.cols / kBlock;
  const std::byte* quads = tile.panels + panel_scales(tile.cols);
  const auto* x =
      reinterpret_cast<const std::int8_t*>(tile.inputs) + input_values(DType::q8_0, tile.cols);
  __m512 sum[kTokens][kPanels];
#pragma GCC unroll 6
  for (int t = 0; t < kTokens; ++t) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) sum[t][p] = _mm512_setzero_ps();
  }
  for (int b = 0; b < blocks; ++b) {
    Dots<kTokens, kPanels> dots;
#pragma GCC unroll 6
    for (int t = 0; t < kTokens; ++t) {
      const auto* scales = reinterpret_cast<const float*>(tile.inputs + t * tile.input_stride);
      const auto* offsets = reinterpret_cast<const std::int32_t*>(scales + blocks);
#pragma GCC unroll 4
      for (int p = 0; p < kPanels; ++p) dots.sum[t][p] = _mm512_set1_epi32(offsets[b]);
    }
    for (int c = b * kBlock; c < (b + 1) * kBlock; c += kQuad) {
      dots.add(quads + std::size_t(c) * kPanel, tile.panel_stride, x + c, tile.input_stride);
    }
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const auto* halves =
          reinterpret_cast<const __m256i*>(tile.panels + p * tile.panel_stride) + b;
      const __m512 scale = _mm512_cvtph_ps(_mm256_loadu_si256(halves));
#pragma GCC unroll 6
      for (int t = 0; t < kTokens; ++t) {
        const auto* scales = reinterpret_cast<const float*>(tile.inputs + t * tile.input_stride);
        const __m512 both = _mm512_mul_ps(scale, _mm512_set1_ps(scales[b]));
        sum[t][p] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots.sum[t][p]), both, sum[t][p]);
      }
    }
  }
#pragma GCC unroll 6
  for (int t = 0; t < kTokens; ++t) {
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      _mm512_storeu_ps(tile.out + t * out_stride + p * kPanel, sum[t][p]);
    }
  }
}

template <int kTokens, int kPanels>
void i8_tile(const Tile& tile, int out_stride) {
  Dots<kTokens, kPanels> dots;
#pragma GCC unroll 6
  for (int t = 0; t < kTokens; ++t) {
    const auto* offset =
        reinterpret_cast<const std::int32_t*>(tile.inputs + t * tile.input_stride) + 1;
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) dots.sum[t][p] = _mm512_set1_epi32(*offset);
  }
  const auto* x =
      reinterpret_cast<const std::int8_t*>(tile.inputs) + input_values(DType::i8, tile.cols);
  const int cols = padded_cols(tile.cols);
  for (int c = 0; c < cols; c += kQuad) {
    dots.add(tile.panels + kLine + std::size_t(c) * kPanel, tile.panel_stride, x + c,
             tile.input_stride);
  }
#pragma GCC unroll 6
  for (int t = 0; t < kTokens; ++t) {
    const float scale = *reinterpret_cast<const float*>(tile.inputs + t * tile.input_stride);
#pragma GCC unroll 4
    for (int p = 0; p < kPanels; ++p) {
      const __m512 both = _mm512_mul_ps(_mm512_loadu_ps(tile.panels + p * tile.panel_stride),
                                        _mm512_set1_ps(scale));
      _mm512_storeu_ps(tile.out + t * out_stride + p * kPanel,
                       _mm512_mul_ps(_mm512_cvtepi32_ps(dots.sum[t][p]), both));
    }
  }
}

enum class Int8 { q8_0, i8 };

template <Int8 kType, int kTokens, int kPanels>
void int8_tile(const Tile& tile, int out_stride) {
  if constexpr (kType == Int8::q8_0) {
    q8_0_tile<kTokens, kPanels>(tile, out_stride);
  } else {
    i8_tile<kTokens, kPanels>(tile, out_stride);
  }
}

// q8_0 keeps a sum in fp32 beside each int32 one: half the panels at once.
template <Int8 kType, int kTokens>
void int8_panels(Tile tile, int panels) {
  constexpr int kStep = kType == Int8::q8_0 && kTokens > 3 ? 2 : kVnniPanels;
  const int stride = panels * kPanel;
  while (panels > 0) {
    const int step = panels >= kStep ? kStep : 1;
    if (step == kStep) {
      int8_tile<kType, kTokens, kStep>(tile, stride);
    } else {
      int8_tile<kType, kTokens, 1>(tile, stride);
    }
    tile.panels += step * tile.panel_stride;
    tile.out += step * kPanel;
    panels -= step;
  }
}

template <Int8 kType, int kTokens = kVnniTokens>
void run_vnni(const Tile& tile, int tokens, int panels) {
  if constexpr (kTokens > 1) {
    if (tokens < kTokens) return run_vnni<kType, kTokens - 1>(tile, tokens, panels);
  }
  int8_panels<kType, kTokens>(tile, panels);
}

}  // namespace

const TileKernels kVnni = {{},
                           {},
                           {},
                           {kVnniTokens, kVnniPanels, run_vnni<Int8::q8_0>},
                           {kVnniTokens, kVnniPanels, run_vnni<Int8::i8>}};

}  // namespace kernels::matmul

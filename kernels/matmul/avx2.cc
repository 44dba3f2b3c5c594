// AVX2 with FMA and F16C. int8 by 16-bit pairs: |w| times x with w's sign, of which two never
// overflow.
#include <immintrin.h>

#include "kernels/matmul/float_tile.h"

namespace kernels::matmul {

static_assert(kTileLanes == 8, "Highway took the compiler's flags for a lesser machine");

namespace {

// Adds four products a lane, for the eight rows of half a panel.
__m256i add_quads(__m256i sum, const std::uint8_t* quads, const std::int8_t* x) {
  const __m256i offset = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(quads));
  const __m256i w = _mm256_xor_si256(offset, _mm256_set1_epi8(char(0x80)));
  int four;
  __builtin_memcpy(&four, x, sizeof four);
  const __m256i signed_x = _mm256_sign_epi8(_mm256_set1_epi32(four), w);
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(w), signed_x);
  return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

template <int kTokens>
struct HalfPanel {
  __m256i sum[kTokens][2];

  void clear() {
    for (auto& token : sum) token[0] = token[1] = _mm256_setzero_si256();
  }
  // `quads` and the tokens' x at the same column; `cols` is a multiple of 4.
  void add(const std::uint8_t* quads, const std::int8_t* const* x, int cols) {
    for (int c = 0; c < cols; c += kQuad, quads += kPanel * kQuad) {
      for (int t = 0; t < kTokens; ++t) {
        sum[t][0] = add_quads(sum[t][0], quads, x[t] + c);
        sum[t][1] = add_quads(sum[t][1], quads + kPanel * kQuad / 2, x[t] + c);
      }
    }
  }
};

template <int kTokens>
void q8_0_panel(const Tile& tile, const std::byte* panel, float* out, int out_stride) {
  const auto* scales = reinterpret_cast<const __m128i*>(panel);
  const auto* quads = reinterpret_cast<const std::uint8_t*>(panel + panel_scales(tile.cols));
  const float* input_scales[kTokens];
  const std::int8_t* x[kTokens];
  __m256 sum[kTokens][2];
  for (int t = 0; t < kTokens; ++t) {
    const std::byte* input = tile.inputs + t * tile.input_stride;
    input_scales[t] = reinterpret_cast<const float*>(input);
    x[t] = reinterpret_cast<const std::int8_t*>(input + input_values(DType::q8_0, tile.cols));
    sum[t][0] = sum[t][1] = _mm256_setzero_ps();
  }
  for (int b = 0; b < tile.cols / kBlock; ++b) {
    HalfPanel<kTokens> dots;
    dots.clear();
    dots.add(quads + b * kBlock * kPanel, x, kBlock);
    for (int half = 0; half < 2; ++half) {
      const __m256 scale = _mm256_cvtph_ps(_mm_loadu_si128(scales + 2 * b + half));
      for (int t = 0; t < kTokens; ++t) {
        const __m256 both = _mm256_mul_ps(scale, _mm256_set1_ps(input_scales[t][b]));
        sum[t][half] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dots.sum[t][half]), both, sum[t][half]);
      }
    }
    for (int t = 0; t < kTokens; ++t) x[t] += kBlock;
  }
  for (int t = 0; t < kTokens; ++t) {
    _mm256_storeu_ps(out + t * out_stride, sum[t][0]);
    _mm256_storeu_ps(out + t * out_stride + 8, sum[t][1]);
  }
}

template <int kTokens>
void i8_panel(const Tile& tile, const std::byte* panel, float* out, int out_stride) {
  const auto* scales = reinterpret_cast<const float*>(panel);
  const std::int8_t* x[kTokens];
  for (int t = 0; t < kTokens; ++t) {
    x[t] = reinterpret_cast<const std::int8_t*>(tile.inputs + t * tile.input_stride +
                                                input_values(DType::i8, tile.cols));
  }
  HalfPanel<kTokens> dots;
  dots.clear();
  dots.add(reinterpret_cast<const std::uint8_t*>(panel + kLine), x, padded_cols(tile.cols));
  for (int t = 0; t < kTokens; ++t) {
    const float input_scale = *reinterpret_cast<const float*>(tile.inputs + t * tile.input_stride);
    for (int half = 0; half < 2; ++half) {
      const __m256 scale =
          _mm256_mul_ps(_mm256_loadu_ps(scales + 8 * half), _mm256_set1_ps(input_scale));
      _mm256_storeu_ps(out + t * out_stride + 8 * half,
                       _mm256_mul_ps(_mm256_cvtepi32_ps(dots.sum[t][half]), scale));
    }
  }
}

using Panel = void (*)(const Tile&, const std::byte* panel, float* out, int out_stride);

template <Panel kOne, Panel kTwo>
void run_panels(const Tile& tile, int tokens, int panels) {
  for (int p = 0; p < panels; ++p) {
    (tokens == 1 ? kOne : kTwo)(tile, tile.panels + p * tile.panel_stride, tile.out + p * kPanel,
                                panels * kPanel);
  }
}

}  // namespace

const TileKernels kAvx2 = {float_kernel<F32Weights>(),
                           float_kernel<F16Weights>(),
                           float_kernel<Bf16Weights>(),
                           {2, kFloatPanels, run_panels<q8_0_panel<1>, q8_0_panel<2>>},
                           {2, kFloatPanels, run_panels<i8_panel<1>, i8_panel<2>>}};

}  // namespace kernels::matmul

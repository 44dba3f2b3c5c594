// AMX tiles for bf16 and i8. q8_0 stays with VNNI: a scale every 32 columns leaves the tiles idle.
//
// Registers: 0..3 sums of up to two groups of 16 tokens by two panels, 4 and 5 the tokens, 6 and 7
// the weights. A token is a row of a tile, so its sums do not depend on the other rows.
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "kernels/matmul/tile.h"

namespace kernels::matmul {
namespace {

constexpr int kRows = 16;  // tokens of a tile
constexpr int kTileBytes = 64;

struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t bytes[16] = {};  // of a row
  std::uint8_t rows[16] = {};
};

// The sums of `tokens` (at most 32) by two panels. `tokens` beyond 16 fill the second group.
void configure(int tokens) {
  TileConfig config;
  for (int i = 0; i < 8; ++i) config.bytes[i] = kTileBytes;
  const int first = std::min(tokens, kRows);
  const int second = std::max(tokens - kRows, 1);  // an unused tile still needs a row
  for (int i : {0, 1, 4}) config.rows[i] = std::uint8_t(first);
  for (int i : {2, 3, 5}) config.rows[i] = std::uint8_t(second);
  for (int i : {6, 7}) config.rows[i] = kRows;
  // g++ 12 knows only the first bytes of the configuration as read and would drop the other stores.
  asm volatile("" ::: "memory");
  _tile_loadconfig(&config);
}

struct Bf16 {
  using Sum = float;
  static constexpr std::size_t kFirst = 0;  // of a panel, where the weights start
  static int steps(int cols) { return (cols + 31) / 32; }
  static std::size_t input_start(int) { return 0; }
};
struct Int8 {
  using Sum = std::int32_t;
  static constexpr std::size_t kFirst = kLine;
  static int steps(int cols) { return padded_cols(cols) / 64; }
  static std::size_t input_start(int cols) { return input_values(DType::i8, cols); }
};

// Tile numbers must be constants; sums, tokens, weights.
#define NS_TILE_DOT(sum, tokens, weights)       \
  do {                                          \
    if constexpr (std::is_same_v<Type, Bf16>) { \
      _tile_dpbf16ps(sum, tokens, weights);     \
    } else {                                    \
      _tile_dpbsud(sum, tokens, weights);       \
    }                                           \
  } while (false)

// sums [4][16][16]: group of tokens * 2 + panel.
template <class Type, bool kTwoGroups, bool kTwoPanels>
void accumulate(const Tile& tile, typename Type::Sum (*sums)[kRows][kPanel]) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  const std::byte* x = tile.inputs + Type::input_start(tile.cols);
  const std::byte* w = tile.panels + Type::kFirst;
  const std::size_t stride = tile.input_stride;
  const int steps = Type::steps(tile.cols);
  for (int k = 0; k < steps; ++k, x += kTileBytes, w += kRows * kTileBytes) {
    _tile_loadd(4, x, stride);
    if constexpr (kTwoGroups) _tile_loadd(5, x + kRows * stride, stride);
    _tile_loadd(6, w, kTileBytes);
    NS_TILE_DOT(0, 4, 6);
    if constexpr (kTwoGroups) NS_TILE_DOT(2, 5, 6);
    if constexpr (kTwoPanels) {
      _tile_loadd(7, w + tile.panel_stride, kTileBytes);
      NS_TILE_DOT(1, 4, 7);
      if constexpr (kTwoGroups) NS_TILE_DOT(3, 5, 7);
    }
  }
  _tile_stored(0, sums[0], kTileBytes);
  if constexpr (kTwoPanels) _tile_stored(1, sums[1], kTileBytes);
  if constexpr (kTwoGroups) _tile_stored(2, sums[2], kTileBytes);
  if constexpr (kTwoGroups && kTwoPanels) _tile_stored(3, sums[3], kTileBytes);
}

void write_row(const Tile&, const std::byte*, int, const float* sums, float* out) {
  std::memcpy(out, sums, kPanel * sizeof(float));
}

// As VNNI's tiles round: (scale of the row * scale of the token) * exact sum.
void write_row(const Tile& tile, const std::byte* panel, int token, const std::int32_t* sums,
               float* out) {
  const std::byte* input = tile.inputs + std::size_t(token) * tile.input_stride;
  const float scale = *reinterpret_cast<const float*>(input);
  const std::int32_t offset = reinterpret_cast<const std::int32_t*>(input)[1];
  const __m512i sum = _mm512_add_epi32(_mm512_load_si512(sums), _mm512_set1_epi32(offset));
  const __m512 both = _mm512_mul_ps(_mm512_loadu_ps(panel), _mm512_set1_ps(scale));
  _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_cvtepi32_ps(sum), both));
}

template <class Type>
void run_tiles(const Tile& whole, int tokens, int panels) {
  alignas(64) typename Type::Sum sums[4][kRows][kPanel];
  configure(tokens);
  Tile tile = whole;
  for (int p = 0; p < panels; p += 2, tile.panels += 2 * tile.panel_stride) {
    const bool two = p + 2 <= panels;
    if (tokens > kRows) {
      two ? accumulate<Type, true, true>(tile, sums) : accumulate<Type, true, false>(tile, sums);
    } else {
      two ? accumulate<Type, false, true>(tile, sums) : accumulate<Type, false, false>(tile, sums);
    }
    for (int t = 0; t < tokens; ++t) {
      for (int i = 0; i < (two ? 2 : 1); ++i) {
        write_row(tile, tile.panels + i * tile.panel_stride, t, sums[t / kRows * 2 + i][t % kRows],
                  whole.out + (t * panels + p + i) * kPanel);
      }
    }
  }
  _tile_release();
}

}  // namespace

const TileKernels kAmx = {{},
                          {},
                          {2 * kRows, kMaxTilePanels, run_tiles<Bf16>},
                          {},
                          {2 * kRows, kMaxTilePanels, run_tiles<Int8>}};

}  // namespace kernels::matmul

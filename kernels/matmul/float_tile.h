// Tiles of f32, f16 and bf16 weights with fp32 activations, written once in Highway and compiled
// once for each instruction set by the file that includes it. Every output is one chain of MulAdd
// over the columns, whatever the tile: that is what makes it independent of the batch.
#pragma once

#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

#include "kernels/matmul/tile.h"

namespace kernels::matmul {
namespace {  // a copy for each instruction set; the linker must not choose among them

namespace hn = hwy::HWY_NAMESPACE;
inline constexpr hn::CappedTag<float, kPanel> kLanesF{};
inline constexpr int kTileLanes = int(hn::MaxLanes(kLanesF));
inline constexpr int kSplit = kPanel / kTileLanes;  // vectors a panel
using TileVector = hn::Vec<decltype(kLanesF)>;

struct F32Weights {
  static TileVector at(const std::byte* panel, int col, int lane) {
    return hn::LoadU(kLanesF, reinterpret_cast<const float*>(panel) + col * kPanel + lane);
  }
};

struct F16Weights {
  static TileVector at(const std::byte* panel, int col, int lane) {
    constexpr hn::Rebind<hwy::float16_t, decltype(kLanesF)> half{};
    const auto* p = reinterpret_cast<const hwy::float16_t*>(panel) + col * kPanel + lane;
    return hn::PromoteTo(kLanesF, hn::LoadU(half, p));
  }
};

// Two columns lie in the halves of a 32-bit lane; a bf16 is the upper half of an fp32.
struct Bf16Weights {
  static TileVector at(const std::byte* panel, int col, int lane) {
    constexpr hn::RebindToUnsigned<decltype(kLanesF)> bits{};
    const auto* p = reinterpret_cast<const std::uint32_t*>(panel) + col / 2 * kPanel + lane;
    const auto pair = hn::LoadU(bits, p);
    return hn::BitCast(kLanesF, col % 2 == 0 ? hn::ShiftLeft<16>(pair)
                                             : hn::And(pair, hn::Set(bits, 0xffff0000u)));
  }
};

template <int kTokens, int kPanels>
struct FloatAccumulator {
  TileVector sum[kTokens][kPanels][kSplit];

  template <class Weights>
  HWY_INLINE void add(const Tile& tile, int col) {
    TileVector w[kPanels][kSplit];
    HWY_UNROLL(8)
    for (int p = 0; p < kPanels; ++p) {
      HWY_UNROLL(8)
      for (int s = 0; s < kSplit; ++s) {
        w[p][s] = Weights::at(tile.panels + p * tile.panel_stride, col, s * kTileLanes);
      }
    }
    HWY_UNROLL(8)
    for (int t = 0; t < kTokens; ++t) {
      const auto* x = reinterpret_cast<const float*>(tile.inputs + t * tile.input_stride);
      const TileVector value = hn::Set(kLanesF, x[col]);
      HWY_UNROLL(8)
      for (int p = 0; p < kPanels; ++p) {
        HWY_UNROLL(8)
        for (int s = 0; s < kSplit; ++s) sum[t][p][s] = hn::MulAdd(value, w[p][s], sum[t][p][s]);
      }
    }
  }
};

template <class Weights, int kTokens, int kPanels>
void float_tile(const Tile& tile, int out_stride) {
  FloatAccumulator<kTokens, kPanels> acc;
  for (auto& token : acc.sum) {
    for (auto& panel : token) {
      for (TileVector& v : panel) v = hn::Zero(kLanesF);
    }
  }
  int col = 0;
  for (; col + 2 <= tile.cols; col += 2) {  // by twos, so that a bf16's half is known
    acc.template add<Weights>(tile, col);
    acc.template add<Weights>(tile, col + 1);
  }
  if (col < tile.cols) acc.template add<Weights>(tile, col);
  for (int t = 0; t < kTokens; ++t) {
    for (int p = 0; p < kPanels; ++p) {
      for (int s = 0; s < kSplit; ++s) {
        hn::StoreU(acc.sum[t][p][s], kLanesF,
                   tile.out + t * out_stride + p * kPanel + s * kTileLanes);
      }
    }
  }
}

// One token reads four panels side by side, so that additions need not wait for each other; more
// tokens take as many panels as registers allow. Without vectors nothing is gained by either.
inline constexpr int kFloatTokens = kTileLanes == 1 ? 1 : 6;
inline constexpr int kFloatPanels = kTileLanes == 1 ? 1 : 4;
inline constexpr int kWidePanels = kSplit == 1 ? 4 : 1;

template <class Weights, int kTokens>
void float_panels(Tile tile, int panels) {
  constexpr int kStep = kTokens == 1 ? kFloatPanels : kWidePanels;
  const int stride = panels * kPanel;
  while (panels > 0) {
    const int step = panels >= kStep ? kStep : 1;
    if (step == kStep) {
      float_tile<Weights, kTokens, kStep>(tile, stride);
    } else {
      float_tile<Weights, kTokens, 1>(tile, stride);
    }
    tile.panels += step * tile.panel_stride;
    tile.out += step * kPanel;
    panels -= step;
  }
}

template <class Weights, int kTokens>
void run_float(const Tile& tile, int tokens, int panels) {
  if constexpr (kTokens > 1) {
    if (tokens < kTokens) return run_float<Weights, kTokens - 1>(tile, tokens, panels);
  }
  float_panels<Weights, kTokens>(tile, panels);
}

template <class Weights>
constexpr TileKernel float_kernel() {
  return {kFloatTokens, kFloatPanels, run_float<Weights, kFloatTokens>};
}

}  // namespace
}  // namespace kernels::matmul

// Any machine: Highway's least instruction set for floats, plain loops for int8.
#include "kernels/matmul/float_tile.h"

namespace kernels::matmul {
namespace {

int dot_block(const std::uint8_t* quads, int lane, const std::int8_t* x, int cols) {
  int sum = 0;
  for (int c = 0; c < cols; ++c) {
    const int w = quads[(c / kQuad * kPanel + lane) * kQuad + c % kQuad] - 128;
    sum += w * x[c];
  }
  return sum;
}

void run_q8_0(const Tile& tile, int tokens, int panels) {
  const int blocks = tile.cols / kBlock;
  constexpr hn::CappedTag<float, 1> one{};
  constexpr hn::Rebind<hwy::float16_t, decltype(one)> half{};
  for (int t = 0; t < tokens; ++t) {
    const std::byte* input = tile.inputs + t * tile.input_stride;
    const auto* input_scales = reinterpret_cast<const float*>(input);
    const auto* x =
        reinterpret_cast<const std::int8_t*>(input + input_values(DType::q8_0, tile.cols));
    for (int r = 0; r < panels * kPanel; ++r) {
      const std::byte* panel = tile.panels + r / kPanel * tile.panel_stride;
      const auto* scales = reinterpret_cast<const hwy::float16_t*>(panel);
      const auto* quads = reinterpret_cast<const std::uint8_t*>(panel + panel_scales(tile.cols));
      float sum = 0;
      for (int b = 0; b < blocks; ++b) {
        const float scale =
            hn::GetLane(hn::PromoteTo(one, hn::LoadU(half, scales + b * kPanel + r % kPanel)));
        const int dot = dot_block(quads + b * kBlock * kPanel, r % kPanel, x + b * kBlock, kBlock);
        sum += float(dot) * (scale * input_scales[b]);
      }
      tile.out[t * panels * kPanel + r] = sum;
    }
  }
}

void run_i8(const Tile& tile, int tokens, int panels) {
  for (int t = 0; t < tokens; ++t) {
    const std::byte* input = tile.inputs + t * tile.input_stride;
    const auto* x =
        reinterpret_cast<const std::int8_t*>(input + input_values(DType::i8, tile.cols));
    const float input_scale = *reinterpret_cast<const float*>(input);
    for (int r = 0; r < panels * kPanel; ++r) {
      const std::byte* panel = tile.panels + r / kPanel * tile.panel_stride;
      const auto* quads = reinterpret_cast<const std::uint8_t*>(panel + kLine);
      const float scale = reinterpret_cast<const float*>(panel)[r % kPanel] * input_scale;
      const int dot = dot_block(quads, r % kPanel, x, padded_cols(tile.cols));
      tile.out[t * panels * kPanel + r] = float(dot) * scale;
    }
  }
}

}  // namespace

const TileKernels kGeneric = {float_kernel<F32Weights>(),
                              float_kernel<F16Weights>(),
                              float_kernel<Bf16Weights>(),
                              {1, kFloatPanels, run_q8_0},
                              {1, kFloatPanels, run_i8}};

}  // namespace kernels::matmul

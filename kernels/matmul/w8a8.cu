// W8A8 for NVIDIA GPUs, by the four-way dot product of int8 (dp4a). Tensor cores are the next step.
// A block makes 64 tokens x 64 rows; both sides pass through shared memory, 64 columns at a time.
#include <cstdint>

#include "kernels/lab/device_memory.cuh"
#include "kernels/matmul/device.h"

namespace kernels::matmul {
namespace {

constexpr int kSide = 64;     // tokens and rows of a block
constexpr int kThreads = 16;  // in each direction; a thread makes 4 x 4 outputs
constexpr int kEach = kSide / kThreads;
constexpr int kQuads = 16;  // 64 columns: int8 by fours

// One block a token: max|x| / 127, then the values to nearest.
__global__ void quantize(const float* x, int cols, int quads, int* x8, float* scales) {
  __shared__ float tops[32];
  const float* row = x + std::size_t(blockIdx.x) * cols;
  float top = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, fabsf(row[c]));
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
  if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = top;
  __syncthreads();
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) top = fmaxf(top, tops[warp]);
  const float scale = top / 127.0f;
  const float factor = scale > 1e-37f ? 1.0f / scale : 0.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int quad = threadIdx.x; quad < quads; quad += blockDim.x) {
    unsigned packed = 0;
    for (int i = 0; i < 4; ++i) {
      const int c = quad * 4 + i;
      const int value = c < cols ? __float2int_rn(row[c] * factor) : 0;
      packed |= (unsigned(value) & 0xff) << (8 * i);
    }
    x8[std::size_t(blockIdx.x) * quads + quad] = int(packed);
  }
}

// Rows `first` on of a [size, quads] matrix, 16 quads from `quad` on; zeros outside.
__device__ void stage(const int* from, int first, int size, int quads, int quad,
                      int (*to)[kQuads + 1]) {
  const int thread = threadIdx.y * kThreads + threadIdx.x;
  for (int i = thread; i < kSide * kQuads; i += kThreads * kThreads) {
    const int row = i / kQuads;
    const int column = i % kQuads;
    const bool inside = first + row < size && quad + column < quads;
    to[row][column] = inside ? from[std::size_t(first + row) * quads + quad + column] : 0;
  }
}

__global__ void multiply(const int* w, const float* w_scales, const int* x, const float* x_scales,
                         int rows, int tokens, int quads, float* y) {
  __shared__ int w_tile[kSide][kQuads + 1];  // one more, so that a column spreads over the banks
  __shared__ int x_tile[kSide][kQuads + 1];
  const int first_row = blockIdx.x * kSide;
  const int first_token = blockIdx.y * kSide;
  int sum[kEach][kEach] = {};
  for (int quad = 0; quad < quads; quad += kQuads) {
    stage(w, first_row, rows, quads, quad, w_tile);
    stage(x, first_token, tokens, quads, quad, x_tile);
    __syncthreads();
    for (int k = 0; k < kQuads; ++k) {
      for (int t = 0; t < kEach; ++t) {
        for (int r = 0; r < kEach; ++r) {
          sum[t][r] = __dp4a(x_tile[threadIdx.y + t * kThreads][k],
                             w_tile[threadIdx.x + r * kThreads][k], sum[t][r]);
        }
      }
    }
    __syncthreads();
  }
  for (int t = 0; t < kEach; ++t) {
    const int token = first_token + threadIdx.y + t * kThreads;
    for (int r = 0; r < kEach; ++r) {
      const int row = first_row + threadIdx.x + r * kThreads;
      if (token >= tokens || row >= rows) continue;
      y[std::size_t(token) * rows + row] = float(sum[t][r]) * (w_scales[row] * x_scales[token]);
    }
  }
}

}  // namespace

struct DeviceProduct::Memory {
  Memory(const MatrixView& matrix, int count)
      : rows(matrix.rows),
        cols(matrix.cols),
        quads((matrix.cols + 3) / 4),
        tokens(count),
        w(std::size_t(rows) * quads),
        w_scales(rows),
        x(std::size_t(tokens) * cols),
        x8(std::size_t(tokens) * quads),
        x_scales(tokens),
        y(std::size_t(tokens) * rows) {}

  int rows, cols, quads, tokens;
  DeviceArray<int> w;
  DeviceArray<float> w_scales, x;
  DeviceArray<int> x8;
  DeviceArray<float> x_scales, y;
  DeviceEvent start, stop;
};

DeviceProduct::DeviceProduct(const MatrixView& w, int tokens) {
  device_name();
  memory_ = std::make_unique<Memory>(w, tokens);
  Memory& m = *memory_;
  m.w_scales.set(w.scales);
  // Rows of the device are whole quads; the padding was cleared.
  require(cudaMemcpy2D(m.w.data(), std::size_t(m.quads) * 4, w.data, w.cols, w.cols, w.rows,
                       cudaMemcpyHostToDevice),
          "copy the weights to the device");
}
DeviceProduct::~DeviceProduct() = default;

void DeviceProduct::upload(const float* x) { memory_->x.set(x); }

float DeviceProduct::launch_ms() {
  Memory& m = *memory_;
  const dim3 blocks((m.rows + kSide - 1) / kSide, (m.tokens + kSide - 1) / kSide);
  m.start.record();
  quantize<<<m.tokens, 256>>>(m.x.data(), m.cols, m.quads, m.x8.data(), m.x_scales.data());
  multiply<<<blocks, dim3(kThreads, kThreads)>>>(m.w.data(), m.w_scales.data(), m.x8.data(),
                                                 m.x_scales.data(), m.rows, m.tokens, m.quads,
                                                 m.y.data());
  require(cudaGetLastError(), "launch the kernel");
  m.stop.record();
  return m.stop.since_ms(m.start);
}

void DeviceProduct::download(float* y) { memory_->y.get(y); }

}  // namespace kernels::matmul

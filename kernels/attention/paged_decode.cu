// Paged decode attention for NVIDIA GPUs. A sequence is cut into spans of 256 positions, counted
// from 0; a block makes the partial softmax of one span for one query head, a second launch merges
// the spans in order. So a result depends on the sequence alone, not on the batch, and long
// sequences fill the GPU.
#include <stdexcept>

#include "kernels/attention/device.h"
#include "kernels/lab/device_memory.cuh"

namespace kernels::attention {
namespace {

constexpr int kSpan = 256;
constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

struct View {
  Shape shape;
  int page_tokens, page_limit, spans;
  const float *keys, *values, *q;
  const int *tables, *lengths;
  float* partial;   // [batch, heads, spans, value_dim], weighted sums
  float2* weights;  // [batch, heads, spans], largest score and sum of exp(score - largest)
  float* out;
};

__device__ const float* row(const View& view, const float* cache, int sequence, int position,
                            int kv_head, int dim) {
  const int page = view.tables[sequence * view.page_limit + position / view.page_tokens];
  const std::size_t head = std::size_t(page) * view.shape.kv_heads + kv_head;
  return cache + (head * view.page_tokens + position % view.page_tokens) * dim;
}

// Over the block, in a fixed order; all threads get it.
template <class F>
__device__ float combine(float value, float* of_warps, F f) {
  for (int step = 16; step > 0; step /= 2) value = f(value, __shfl_xor_sync(~0u, value, step));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[0];
  for (int warp = 1; warp < kWarps; ++warp) value = f(value, of_warps[warp]);
  __syncthreads();
  return value;
}

// Block: (span, head, sequence).
__global__ void attend_span(View view) {
  __shared__ float scores[kSpan];
  __shared__ float of_warps[kWarps];
  const Shape& s = view.shape;
  const int sequence = blockIdx.z;
  const int first = blockIdx.x * kSpan;
  const int count = min(kSpan, view.lengths[sequence] - first);
  if (count <= 0) return;
  const int kv_head = blockIdx.y * s.kv_heads / s.heads;
  const std::size_t at = std::size_t(sequence) * s.heads + blockIdx.y;

  // A warp a position: its lanes cover the key.
  float query[kMaxDeviceDim / 32];
  const int lane = threadIdx.x % 32;
  for (int i = 0; i < kMaxDeviceDim / 32; ++i) {
    const int d = lane + 32 * i;
    query[i] = d < s.key_dim ? view.q[at * s.key_dim + d] : 0;
  }
  for (int p = threadIdx.x / 32; p < count; p += kWarps) {
    const float* key = row(view, view.keys, sequence, first + p, kv_head, s.key_dim);
    float dot = 0;
    for (int i = 0; i < kMaxDeviceDim / 32; ++i) {
      const int d = lane + 32 * i;
      if (d < s.key_dim) dot += query[i] * key[d];
    }
    for (int step = 16; step > 0; step /= 2) dot += __shfl_xor_sync(~0u, dot, step);
    if (lane == 0) scores[p] = dot * s.scale;
  }
  __syncthreads();

  float top = -3e38f;
  for (int p = threadIdx.x; p < count; p += kThreads) top = fmaxf(top, scores[p]);
  top = combine(top, of_warps, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0;
  for (int p = threadIdx.x; p < count; p += kThreads) {
    scores[p] = expf(scores[p] - top);
    sum += scores[p];
  }
  sum = combine(sum, of_warps, [](float a, float b) { return a + b; });

  // A thread a value dimension, positions in order.
  const std::size_t span = at * view.spans + blockIdx.x;
  for (int d = threadIdx.x; d < s.value_dim; d += kThreads) {
    float value = 0;
    for (int p = 0; p < count; ++p) {
      value += scores[p] * row(view, view.values, sequence, first + p, kv_head, s.value_dim)[d];
    }
    view.partial[span * s.value_dim + d] = value;
  }
  if (threadIdx.x == 0) view.weights[span] = make_float2(top, sum);
}

// Block: (head, sequence).
__global__ void merge_spans(View view) {
  const Shape& s = view.shape;
  const int spans = (view.lengths[blockIdx.y] + kSpan - 1) / kSpan;
  const std::size_t at = std::size_t(blockIdx.y) * s.heads + blockIdx.x;
  const float2* weights = view.weights + at * view.spans;
  float top = -3e38f;
  for (int i = 0; i < spans; ++i) top = fmaxf(top, weights[i].x);
  float sum = 0;
  for (int i = 0; i < spans; ++i) sum += expf(weights[i].x - top) * weights[i].y;
  for (int d = threadIdx.x; d < s.value_dim; d += kThreads) {
    float value = 0;
    for (int i = 0; i < spans; ++i) {
      value += expf(weights[i].x - top) * view.partial[(at * view.spans + i) * s.value_dim + d];
    }
    view.out[at * s.value_dim + d] = value / sum;
  }
}

}  // namespace

struct DeviceDecode::Memory {
  Memory(const Shape& s, int pages, int page_tokens, int count, int page_limit)
      : batch(count),
        spans((page_tokens * page_limit + kSpan - 1) / kSpan),
        keys(std::size_t(pages) * s.kv_heads * page_tokens * s.key_dim),
        values(std::size_t(pages) * s.kv_heads * page_tokens * s.value_dim),
        q(std::size_t(batch) * s.heads * s.key_dim),
        tables(std::size_t(batch) * page_limit),
        lengths(batch),
        partial(std::size_t(batch) * s.heads * spans * s.value_dim),
        weights(std::size_t(batch) * s.heads * spans),
        out(std::size_t(batch) * s.heads * s.value_dim),
        view{s,        page_tokens,   page_limit,     spans,          keys.data(),    values.data(),
             q.data(), tables.data(), lengths.data(), partial.data(), weights.data(), out.data()} {}

  int batch, spans;
  DeviceArray<float> keys, values, q;
  DeviceArray<std::int32_t> tables, lengths;
  DeviceArray<float> partial;
  DeviceArray<float2> weights;
  DeviceArray<float> out;
  View view;
  DeviceEvent start, stop;
};

DeviceDecode::DeviceDecode(const Shape& shape, int pages, int page_tokens, int batch,
                           int page_limit) {
  if (shape.key_dim > kMaxDeviceDim || shape.value_dim > kMaxDeviceDim) {
    throw std::invalid_argument("attention on CUDA has dims up to " +
                                std::to_string(kMaxDeviceDim));
  }
  device_name();
  memory_ = std::make_unique<Memory>(shape, pages, page_tokens, batch, page_limit);
}
DeviceDecode::~DeviceDecode() = default;

void DeviceDecode::upload_cache(const float* keys, const float* values) {
  memory_->keys.set(keys);
  memory_->values.set(values);
}

void DeviceDecode::upload_step(const std::int32_t* tables, const std::int32_t* lengths,
                               const float* q) {
  memory_->tables.set(tables);
  memory_->lengths.set(lengths);
  memory_->q.set(q);
}

float DeviceDecode::launch_ms() {
  Memory& m = *memory_;
  const unsigned heads = unsigned(m.view.shape.heads);
  m.start.record();
  attend_span<<<dim3(m.spans, heads, m.batch), kThreads>>>(m.view);
  merge_spans<<<dim3(heads, m.batch), kThreads>>>(m.view);
  require(cudaGetLastError(), "launch the kernel");
  m.stop.record();
  return m.stop.since_ms(m.start);
}

void DeviceDecode::download(float* out) { memory_->out.get(out); }

}  // namespace kernels::attention

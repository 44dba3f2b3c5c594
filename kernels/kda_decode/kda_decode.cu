// v0 and v3 of KDA decode for NVIDIA GPUs. Compiled, but never yet run (see device.h).
// One block a (slot, value head), one thread a column of V; a thread walks down K, so that a warp
// reads 128 consecutive bytes of a row. What does not depend on V is made by the whole block in
// shared memory, once a head: this is what variant 3 means here.
#include <utility>

#include "kernels/kda_decode/device.h"
#include "kernels/lab/device_memory.cuh"

namespace kernels::kda_decode {
namespace {

struct View {
  Shape shape;
  int ring;
  GateForm form;
  float lower_bound;
  const float *q, *k, *v, *x, *beta, *log_rate, *bias;
  const unsigned char* flush;
  float *state, *d_ring, *k_ring, *g_ring, *o;
  int* cursor;
};

// Sum over the block; all threads get it. `lane_sums` holds a float a warp.
__device__ float block_sum(float value, float* lane_sums) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(~0u, value, step);
  if (threadIdx.x % 32 == 0) lane_sums[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) sum += lane_sums[warp];
  __syncthreads();
  return sum;
}

__device__ void normalise(const float* x, int size, float scale, float* out, float* lane_sums) {
  float squares = 0;
  for (int i = threadIdx.x; i < size; i += blockDim.x) squares += x[i] * x[i];
  const float factor = scale * rsqrtf(block_sum(squares, lane_sums) + kNormEpsilon);
  for (int i = threadIdx.x; i < size; i += blockDim.x) out[i] = x[i] * factor;
}

__device__ float gate(const View& view, int head, int i, float x) {
  const float rate = expf(view.log_rate[head]);
  const float z = x + view.bias[head * view.shape.key_dim + i];
  if (view.form == GateForm::bounded) return view.lower_bound / (1.0f + expf(-rate * z));
  return -rate * (fmaxf(z, 0.0f) + log1pf(expf(-fabsf(z))));
}

// Shared memory of a block: key, query, g, keep [K] each, then dots [2 L], records [L, K], sums
// [32].
struct Plan {
  float *key, *query, *g, *keep, *key_dot, *query_dot, *record, *lane_sums;
  __device__ Plan(float* memory, int key_dim, int ring)
      : key(memory),
        query(key + key_dim),
        g(query + key_dim),
        keep(g + key_dim),
        key_dot(keep + key_dim),
        query_dot(key_dot + ring),
        record(query_dot + ring),
        lane_sums(record + ring * key_dim) {}
};
std::size_t plan_bytes(int key_dim, int ring) {
  return sizeof(float) * (std::size_t(4) * key_dim + 2 * ring + std::size_t(ring) * key_dim + 32);
}

// See head_plan.h for the formulas. Gives k . q.
__device__ float make_plan(const View& view, int slot, int head, int records, const Plan& plan) {
  const int key_dim = view.shape.key_dim;
  const int key_head = head * view.shape.heads / view.shape.value_heads;
  const std::size_t key_at = std::size_t(slot) * view.shape.heads + key_head;
  const std::size_t at = std::size_t(slot) * view.shape.value_heads + head;
  normalise(view.q + key_at * key_dim, key_dim, rsqrtf(key_dim), plan.query, plan.lane_sums);
  normalise(view.k + key_at * key_dim, key_dim, 1.0f, plan.key, plan.lane_sums);
  for (int i = threadIdx.x; i < key_dim; i += blockDim.x) {
    float chain = gate(view, head, i, view.x[at * key_dim + i]);
    plan.g[i] = chain;
    for (int j = records - 1; j >= 0; --j) {
      plan.record[j * key_dim + i] =
          expf(chain) * view.k_ring[(key_at * view.ring + j) * key_dim + i];
      chain += view.g_ring[(at * view.ring + j) * key_dim + i];
    }
    plan.keep[i] = expf(chain);
  }
  __syncthreads();
  for (int j = 0; j < records; ++j) {
    float by_key = 0;
    float by_query = 0;
    for (int i = threadIdx.x; i < key_dim; i += blockDim.x) {
      by_key += plan.record[j * key_dim + i] * plan.key[i];
      by_query += plan.record[j * key_dim + i] * plan.query[i];
    }
    by_key = block_sum(by_key, plan.lane_sums);
    by_query = block_sum(by_query, plan.lane_sums);
    if (threadIdx.x == 0) plan.key_dot[j] = by_key;
    if (threadIdx.x == 0) plan.query_dot[j] = by_query;
  }
  float key_query = 0;
  for (int i = threadIdx.x; i < key_dim; i += blockDim.x) key_query += plan.key[i] * plan.query[i];
  return block_sum(key_query, plan.lane_sums);  // its barriers publish the dots
}

__device__ void write_column(const View& view, const Plan& plan, float* state,
                             const float* d_records, float d, int records) {
  const int value_dim = view.shape.value_dim;
  for (int i = 0; i < view.shape.key_dim; ++i) {
    float s = plan.keep[i] * state[std::size_t(i) * value_dim] + plan.key[i] * d;
    for (int j = 0; j < records; ++j) {
      s += plan.record[j * view.shape.key_dim + i] * d_records[std::size_t(j) * value_dim];
    }
    state[std::size_t(i) * value_dim] = s;
  }
}

// kReplay false is v0: nothing ever waits and every step writes, so the loops over records are
// gone.
template <bool kReplay>
__global__ void decode(View view) {
  extern __shared__ float memory[];
  const int key_dim = view.shape.key_dim;
  const int value_dim = view.shape.value_dim;
  const int slot = blockIdx.x / view.shape.value_heads;
  const int head = blockIdx.x % view.shape.value_heads;
  const std::size_t at = blockIdx.x;
  const Plan plan(memory, key_dim, kReplay ? view.ring : 1);
  const int records = kReplay ? view.cursor[slot] : 0;
  const bool flush = !kReplay || records + 1 >= view.ring || view.flush[slot];
  const float key_query = make_plan(view, slot, head, records, plan);
  for (int c = threadIdx.x; c < value_dim; c += blockDim.x) {
    float* state = view.state + at * key_dim * value_dim + c;
    float* d_records = view.d_ring + at * view.ring * value_dim + c;
    float by_key = 0;
    float by_query = 0;
    for (int i = 0; i < key_dim; ++i) {
      const float s = state[std::size_t(i) * value_dim] * plan.keep[i];
      by_key += s * plan.key[i];
      by_query += s * plan.query[i];
    }
    for (int j = 0; j < records; ++j) {
      by_key += d_records[std::size_t(j) * value_dim] * plan.key_dot[j];
      by_query += d_records[std::size_t(j) * value_dim] * plan.query_dot[j];
    }
    const float d = view.beta[at] * (view.v[at * value_dim + c] - by_key);
    view.o[at * value_dim + c] = by_query + d * key_query;
    if (flush) {
      write_column(view, plan, state, d_records, d, records);
    } else {
      d_records[std::size_t(records) * value_dim] = d;
    }
  }
  if (flush) return;
  const int key_head = head * view.shape.heads / view.shape.value_heads;
  const std::size_t key_at = std::size_t(slot) * view.shape.heads + key_head;
  const bool first =
      head == 0 || (head - 1) * view.shape.heads / view.shape.value_heads != key_head;
  for (int i = threadIdx.x; i < key_dim; i += blockDim.x) {
    view.g_ring[(at * view.ring + records) * key_dim + i] = plan.g[i];
    if (first) view.k_ring[(key_at * view.ring + records) * key_dim + i] = plan.key[i];
  }
}

// A launch of its own, after all heads have read the cursor.
__global__ void advance_cursors(View view) {
  const int slot = blockIdx.x * blockDim.x + threadIdx.x;
  if (slot >= view.shape.batch) return;
  const int next = view.cursor[slot] + 1;
  view.cursor[slot] = next >= view.ring || view.flush[slot] ? 0 : next;
}

}  // namespace

struct DeviceKernel::Memory {
  Memory(bool replays, const Shape& s, const Gate& gate, int ring)
      : replay(replays),
        host(s, ring),
        q(s.key_size()),
        k(s.key_size()),
        v(s.value_size()),
        x(s.gate_size()),
        beta(std::size_t(s.batch) * s.value_heads),
        log_rate(gate.log_rate.size()),
        bias(gate.bias.size()),
        flush(s.batch),
        state(s.state_size()),
        d_ring(s.value_size() * ring),
        k_ring(s.key_size() * ring),
        g_ring(s.gate_size() * ring),
        o(s.value_size()),
        cursor(s.batch),
        view{s,
             ring,
             gate.form,
             gate.lower_bound,
             q.data(),
             k.data(),
             v.data(),
             x.data(),
             beta.data(),
             log_rate.data(),
             bias.data(),
             flush.data(),
             state.data(),
             d_ring.data(),
             k_ring.data(),
             g_ring.data(),
             o.data(),
             cursor.data()} {
    log_rate.set(gate.log_rate.data());
    bias.set(gate.bias.data());
  }

  bool replay;
  Cache host;  // its sizes; the contents live on the device
  DeviceArray<float> q, k, v, x, beta, log_rate, bias;
  DeviceArray<unsigned char> flush;
  DeviceArray<float> state, d_ring, k_ring, g_ring, o;
  DeviceArray<int> cursor;
  View view;
  DeviceEvent start, stop;
};

DeviceKernel::DeviceKernel(int variant, const Shape& shape, const Gate& gate, int ring,
                           const Floats& state) {
  if (variant != 0 && variant != 3) {
    throw std::invalid_argument("kda_decode on CUDA has the variants 0 and 3, found " +
                                std::to_string(variant));
  }
  device_name();
  memory_ = std::make_unique<Memory>(variant == 3, shape, gate, ring);
  memory_->state.set(state.data());
  // A long ring needs more shared memory than a kernel gets unasked.
  require(cudaFuncSetAttribute(decode<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(plan_bytes(shape.key_dim, ring))),
          "reserve shared memory for the ring");
}
DeviceKernel::~DeviceKernel() = default;

void DeviceKernel::upload(const Step& step) {
  Memory& m = *memory_;
  m.q.set(step.q);
  m.k.set(step.k);
  m.v.set(step.v);
  m.x.set(step.x);
  m.beta.set(step.beta);
  const std::vector<unsigned char> never(m.view.shape.batch);
  m.flush.set(step.flush ? step.flush : never.data());
}

float DeviceKernel::launch_ms() {
  Memory& m = *memory_;
  const Shape& s = m.view.shape;
  const int blocks = s.batch * s.value_heads;
  m.start.record();
  if (m.replay) {
    decode<true><<<blocks, 128, plan_bytes(s.key_dim, m.view.ring)>>>(m.view);
    advance_cursors<<<(s.batch + 127) / 128, 128>>>(m.view);
  } else {
    decode<false><<<blocks, 128, plan_bytes(s.key_dim, 1)>>>(m.view);
  }
  require(cudaGetLastError(), "launch the kernel");
  m.stop.record();
  return m.stop.since_ms(m.start);
}

void DeviceKernel::download(std::span<float> o) { memory_->o.get(o.data()); }

Cache DeviceKernel::cache() const {
  const Memory& m = *memory_;
  Cache copy = m.host;
  m.state.get(copy.checkpoint.data());
  m.d_ring.get(copy.d.data());
  m.k_ring.get(copy.k.data());
  m.g_ring.get(copy.g.data());
  m.cursor.get(copy.cursor.data());
  return copy;
}

}  // namespace kernels::kda_decode

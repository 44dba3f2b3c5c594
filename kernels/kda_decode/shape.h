// KDA decode: what goes in, what stays between two tokens, what comes out.
//
// One step advances every slot of a batch by one token (shapes, fp32, row-major):
//   q, k  [batch, heads, K]          normalised inside: x / sqrt(sum x^2 + 1e-6), q also by K^-1/2
//   v     [batch, value_heads, V]
//   x     [batch, value_heads, K]    input of the gate; g = gate(x) is the log of the decay
//   beta  [batch, value_heads]
//   o     [batch, value_heads, V]
// and, per slot and value head, with the state S [K, V]:
//   S <- Diag(exp g) S;  d = beta (v - S^T k);  S <- S + k d^T;  o = S^T q
// (Kimi Delta Attention; value head h reads key head h * heads / value_heads.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace kernels::kda_decode {

inline constexpr int kLanePad = 16;  // K and V are multiples of it: one 512-bit vector of fp32
inline constexpr int kMaxKeyDim = 256;
inline constexpr int kMaxRing = 64;
inline constexpr float kNormEpsilon = 1e-6f;

struct Shape {
  int batch = 1;
  int heads = 4;
  int value_heads = 4;
  int key_dim = 128;
  int value_dim = 128;

  std::size_t key_size() const { return std::size_t(batch) * heads * key_dim; }
  std::size_t value_size() const { return std::size_t(batch) * value_heads * value_dim; }
  std::size_t gate_size() const { return std::size_t(batch) * value_heads * key_dim; }
  std::size_t state_size() const { return gate_size() * value_dim; }
  int key_head(int value_head) const { return value_head * heads / value_heads; }
};

// softplus: g = -exp(A) softplus(x + b).  bounded: g = lb sigmoid(exp(A) (x + b)), lb a scale.
enum class GateForm { softplus, bounded };

struct Gate {
  GateForm form = GateForm::softplus;
  float lower_bound = -5.0f;
  std::vector<float> log_rate;  // A [value_heads]
  std::vector<float> bias;      // b [value_heads, K]
};

struct Step {
  const float* q;
  const float* k;
  const float* v;
  const float* x;
  const float* beta;
  const std::uint8_t* flush;  // [batch], non-zero forces the state to be written; may be null
};

// Starts at a cache line, so that a vector never straddles two.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor): an allocator converts
  LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
  bool operator==(const LineAllocator&) const = default;
};
using Floats = std::vector<float, LineAllocator<float>>;

// What a slot keeps between tokens: a checkpoint S0 and the records (d, k, g) since then. The state
// is
//   S = S0 Diag(exp sum g) + sum_j d_j (W_j . k_j)^T,  W_j = exp(sum over i > j of g_i).
// A ring of L records is written out with its L-th token, so at most L - 1 are ever waiting.
struct Cache {
  Cache(const Shape& shape, int ring);  // zeroed; throws std::invalid_argument on bad sizes

  Shape shape;
  int ring;                 // L
  Floats checkpoint;        // [batch, value_heads, K, V]
  Floats d;                 // [batch, value_heads, L, V], corrected: beta (v - S^T k)
  Floats k;                 // [batch, heads, L, K], normalised
  Floats g;                 // [batch, value_heads, L, K]
  std::vector<int> cursor;  // [batch], records waiting

  float* state(int slot, int head) {
    return &checkpoint[index(slot, head) * shape.key_dim * shape.value_dim];
  }
  float* d_records(int slot, int head) { return &d[index(slot, head) * ring * shape.value_dim]; }
  float* g_records(int slot, int head) { return &g[index(slot, head) * ring * shape.key_dim]; }
  float* k_records(int slot, int key_head) {
    return &k[(std::size_t(slot) * shape.heads + key_head) * ring * shape.key_dim];
  }
  std::size_t index(int slot, int head) const {
    return std::size_t(slot) * shape.value_heads + head;
  }
};

// Whether this step writes the slot's state: the ring is full, or somebody asks for it.
inline bool flushes(const Step& step, const Cache& cache, int slot) {
  return cache.cursor[slot] + 1 >= cache.ring || (step.flush && step.flush[slot]);
}

// Moves every cursor past the step that was just computed.
void advance(const Step& step, Cache& cache);

}  // namespace kernels::kda_decode

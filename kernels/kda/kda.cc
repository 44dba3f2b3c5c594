#include "kernels/kda/kda.h"

#include <algorithm>

#include "kernels/simd.h"

namespace kernels::kda {
namespace {

// The parts of one head's state; Float is float, or const float where it is only read.
template <class Float>
struct HeadParts {
  Float* checkpoint;  // [K, V], S at the chunk's start
  Float* decay;       // [K], since then
  Float* keys;        // [chunk, K], each decayed from its token to now
  Float* d;           // [chunk, V]
};
using Head = HeadParts<float>;

std::size_t head_floats(const Shape& s) {
  return std::size_t(s.key_dim) * s.value_dim + s.key_dim +
         std::size_t(kChunk) * (s.key_dim + s.value_dim);
}

template <class Float>
HeadParts<Float> head_of(const Shape& s, Float* state, int head) {
  HeadParts<Float> out;
  out.checkpoint = state + head_floats(s) * head;
  out.decay = out.checkpoint + std::size_t(s.key_dim) * s.value_dim;
  out.keys = out.decay + s.key_dim;
  out.d = out.keys + std::size_t(kChunk) * s.key_dim;
  return out;
}

// What the tokens of a call need within one chunk. Rows 2i and 2i + 1 belong to token i: its key,
// its query, decayed since the chunk's start; products are those rows times the checkpoint.
struct Scratch {
  float* rows;      // [2 chunk, K]
  float* products;  // [2 chunk, V]
  float* dots;      // [2 chunk, chunk], of key and query with each record
  float* own;       // [chunk], k . q of the token
};

Scratch scratch_of(const Shape& s, float* memory) {
  Scratch out;
  out.rows = memory;
  out.products = out.rows + std::size_t(2 * kChunk) * s.key_dim;
  out.dots = out.products + std::size_t(2 * kChunk) * s.value_dim;
  out.own = out.dots + std::size_t(2 * kChunk) * kChunk;
  return out;
}

float dot(const float* a, const float* b, int size) {
  Vector sum = hn::Zero(kF);
  for (int i = 0; i < size; i += kLanes) sum = hn::MulAdd(load(a + i), load(b + i), sum);
  return sum_of_lanes(sum);
}

// Decays what was, then appends token `i` of the call as record `n`: exp of local differences only.
void decay_and_append(const Shape& s, const float* q, const float* k, const float* g, int n, int i,
                      const Head& head, const Scratch& scratch) {
  const int dim = s.key_dim;
  float* key_row = scratch.rows + std::size_t(2 * i) * dim;
  float* query_row = key_row + dim;
  for (int c = 0; c < dim; c += kLanes) {
    const Vector e = exp(load(g + c));
    const Vector since = n == 0 ? e : hn::Mul(load(head.decay + c), e);
    store(since, head.decay + c);
    store(hn::Mul(since, load(k + c)), key_row + c);
    store(hn::Mul(since, load(q + c)), query_row + c);
    for (int j = 0; j < n; ++j) {
      float* key = head.keys + std::size_t(j) * dim + c;
      store(hn::Mul(load(key), e), key);
    }
  }
  float* by_key = scratch.dots + std::size_t(2 * i) * kChunk;
  float* by_query = by_key + kChunk;
  for (int j = 0; j < n; ++j) {
    by_key[j] = dot(head.keys + std::size_t(j) * dim, k, dim);
    by_query[j] = dot(head.keys + std::size_t(j) * dim, q, dim);
  }
  scratch.own[i] = dot(k, q, dim);
  std::copy_n(k, dim, head.keys + std::size_t(n) * dim);
}

constexpr int kWide = 4;  // vectors of a column block

// products[r] = sum_i rows[r, i] checkpoint[i] for kRows rows and kVectors vectors of columns.
template <int kRows, int kVectors>
void multiply_block(const float* rows, const float* checkpoint, const Shape& s, float* products) {
  Vector sum[kRows][kVectors];
  for (auto& row : sum) {
    for (Vector& v : row) v = hn::Zero(kF);
  }
  for (int i = 0; i < s.key_dim; ++i) {
    const float* from = checkpoint + std::size_t(i) * s.value_dim;
    for (int r = 0; r < kRows; ++r) {
      const Vector factor = set(rows[std::size_t(r) * s.key_dim + i]);
      for (int v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(factor, load(from + v * kLanes), sum[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      store(sum[r][v], products + std::size_t(r) * s.value_dim + v * kLanes);
    }
  }
}

template <int kVectors>
void multiply_columns(const Scratch& scratch, const float* checkpoint, const Shape& s, int count,
                      int column) {
  int i = 0;
  for (; i + 2 <= count; i += 2) {
    multiply_block<4, kVectors>(scratch.rows + std::size_t(2 * i) * s.key_dim, checkpoint + column,
                                s, scratch.products + std::size_t(2 * i) * s.value_dim + column);
  }
  if (i < count) {
    multiply_block<2, kVectors>(scratch.rows + std::size_t(2 * i) * s.key_dim, checkpoint + column,
                                s, scratch.products + std::size_t(2 * i) * s.value_dim + column);
  }
}

void multiply_checkpoint(const Shape& s, const Head& head, int count, const Scratch& scratch) {
  int column = 0;
  for (; column + kWide * kLanes <= s.value_dim; column += kWide * kLanes) {
    multiply_columns<kWide>(scratch, head.checkpoint, s, count, column);
  }
  for (; column < s.value_dim; column += kLanes) {
    multiply_columns<1>(scratch, head.checkpoint, s, count, column);
  }
}

// Row n of the triangular system, then the output: d = beta (v - products - sum_j A_j d_j).
void correct_and_output(const Shape& s, const float* v, float beta, int n, int i, const Head& head,
                        const Scratch& scratch, float* out) {
  const float* by_key = scratch.dots + std::size_t(2 * i) * kChunk;
  const float* by_query = by_key + kChunk;
  const float* key_product = scratch.products + std::size_t(2 * i) * s.value_dim;
  const float* query_product = key_product + s.value_dim;
  for (int c = 0; c < s.value_dim; c += kLanes) {
    Vector known = load(key_product + c);
    Vector o = load(query_product + c);
    for (int j = 0; j < n; ++j) {
      const Vector record = load(head.d + std::size_t(j) * s.value_dim + c);
      known = hn::MulAdd(set(by_key[j]), record, known);
      o = hn::MulAdd(set(by_query[j]), record, o);
    }
    const Vector d = hn::Mul(set(beta), hn::Sub(load(v + c), known));
    store(d, head.d + std::size_t(n) * s.value_dim + c);
    store(hn::MulAdd(set(scratch.own[i]), d, o), out + c);
  }
}

// Rows i.. and one vector of columns of write_state().
template <int kRows>
void write_block(const Shape& s, const HeadParts<const float>& head, int records, int i, int c,
                 float* out) {
  Vector sum[kRows];
  for (int r = 0; r < kRows; ++r) {
    const float* row = head.checkpoint + std::size_t(i + r) * s.value_dim + c;
    sum[r] = hn::Mul(set(head.decay[i + r]), load(row));
  }
  for (int j = 0; j < records; ++j) {
    const Vector d = load(head.d + std::size_t(j) * s.value_dim + c);
    const float* key = head.keys + std::size_t(j) * s.key_dim + i;
    for (int r = 0; r < kRows; ++r) sum[r] = hn::MulAdd(set(key[r]), d, sum[r]);
  }
  for (int r = 0; r < kRows; ++r) store(sum[r], out + std::size_t(i + r) * s.value_dim + c);
}

// out = Diag(decay) checkpoint + sum over `records` of key d^T; out may be the checkpoint.
void write_state(const Shape& s, const HeadParts<const float>& head, int records, float* out) {
  constexpr int kRows = 8;  // divides K
  for (int i = 0; i < s.key_dim; i += kRows) {
    for (int c = 0; c < s.value_dim; c += kLanes) write_block<kRows>(s, head, records, i, c, out);
  }
}

}  // namespace

std::size_t state_floats(const Shape& shape) { return head_floats(shape) * shape.heads; }

std::size_t scratch_floats(const Shape& s) {
  return std::size_t(2 * kChunk) * (s.key_dim + s.value_dim + kChunk) + kChunk;
}

void forward(const Shape& shape, const Tokens& in, int count, int position, Range heads,
             float* state, float* out, float* scratch_memory) {
  const Scratch scratch = scratch_of(shape, scratch_memory);
  for (int h = heads.begin; h < heads.end; ++h) {
    const Head head = head_of(shape, state, h);
    for (int done = 0; done < count;) {
      const int first = (position + done) % kChunk;
      const int now = std::min(count - done, kChunk - first);
      const auto at = [&](int i) { return std::size_t(done + i) * shape.heads + h; };
      for (int i = 0; i < now; ++i) {
        const std::size_t key = at(i) * shape.key_dim;
        decay_and_append(shape, in.q + key, in.k + key, in.g + key, first + i, i, head, scratch);
      }
      multiply_checkpoint(shape, head, now, scratch);
      for (int i = 0; i < now; ++i) {
        const std::size_t value = at(i) * shape.value_dim;
        correct_and_output(shape, in.v + value, in.beta[at(i)], first + i, i, head, scratch,
                           out + value);
      }
      if (first + now == kChunk) {
        write_state(shape, {head.checkpoint, head.decay, head.keys, head.d}, kChunk,
                    head.checkpoint);
      }
      done += now;
    }
  }
}

void materialise(const Shape& shape, const float* state, int position, int head, float* out) {
  const auto parts = head_of(shape, state, head);
  if (position % kChunk == 0) {
    std::copy_n(parts.checkpoint, std::size_t(shape.key_dim) * shape.value_dim, out);
  } else {
    write_state(shape, parts, position % kChunk, out);
  }
}

}  // namespace kernels::kda

#include "kernels/kda_decode/value_tile.h"

#include <algorithm>

#include "kernels/kda_decode/head_plan.h"

namespace kernels::kda_decode {
namespace {

// A tile is held in registers: kVectors of S^T(ak) and as many of S^T(aq). An FMA takes four cycles
// and two start in each, so eight chains are needed; a narrow tile gets them by unrolling over
// rows.
template <int kTile>
struct Tile {
  static constexpr int kVectors = kTile / kLanes;
  static constexpr int kRows = std::max(1, 8 / (2 * kVectors));
};

struct ReadOut {
  float key[128];    // S^T (a k) of the tile
  float query[128];  // S^T (a q)
};

// One pass over S0 for both products, then the records.
template <int kTile, class Count>
void read_out(const HeadPlan& plan, const ValueHead& head, int begin, ReadOut& out, Count count) {
  constexpr int kVectors = Tile<kTile>::kVectors;
  constexpr int kRows = Tile<kTile>::kRows;
  static_assert(kLanePad % kRows == 0, "the rows of a head come in whole groups");
  Vector key[kRows][kVectors];
  Vector query[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) key[r][c] = query[r][c] = hn::Zero(kF);
  }
  for (int i = 0; i < head.key_dim; i += kRows) {
    count.floats(kRows * kTile);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float* row = head.state + std::size_t(i + r) * head.value_dim + begin;
      const Vector by_key = hn::Set(kF, plan.keep_key[i + r]);
      const Vector by_query = hn::Set(kF, plan.keep_query[i + r]);
#pragma GCC unroll 16
      for (int c = 0; c < kVectors; ++c) {
        const Vector s = hn::LoadU(kF, row + c * kLanes);
        key[r][c] = hn::MulAdd(s, by_key, key[r][c]);
        query[r][c] = hn::MulAdd(s, by_query, query[r][c]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 1; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) {
      key[0][c] = hn::Add(key[0][c], key[r][c]);
      query[0][c] = hn::Add(query[0][c], query[r][c]);
    }
  }
  for (int j = 0; j < plan.records; ++j) {
    count.floats(kTile);
    const float* d_j = head.d_records + std::size_t(j) * head.value_dim + begin;
    const Vector by_key = hn::Set(kF, plan.key_dot[j]);
    const Vector by_query = hn::Set(kF, plan.query_dot[j]);
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) {
      const Vector d = hn::LoadU(kF, d_j + c * kLanes);
      key[0][c] = hn::MulAdd(d, by_key, key[0][c]);
      query[0][c] = hn::MulAdd(d, by_query, query[0][c]);
    }
  }
#pragma GCC unroll 16
  for (int c = 0; c < kVectors; ++c) {
    hn::StoreU(key[0][c], kF, out.key + c * kLanes);
    hn::StoreU(query[0][c], kF, out.query + c * kLanes);
  }
}

// d = beta (v - S^T(a k));  o = S^T(a q) + d (k . q)
template <int kTile, class Count>
void correct(const HeadPlan& plan, const ValueHead& head, int begin, const ReadOut& read, float* d,
             Count count) {
  count.floats(2 * kTile + 1);
  const Vector beta = hn::Set(kF, head.beta);
  const Vector key_query = hn::Set(kF, plan.key_query);
  for (int c = 0; c < kTile; c += kLanes) {
    const Vector error = hn::Sub(hn::LoadU(kF, head.v + begin + c), hn::LoadU(kF, read.key + c));
    const Vector corrected = hn::Mul(beta, error);
    hn::StoreU(corrected, kF, d + c);
    hn::StoreU(hn::MulAdd(corrected, key_query, hn::LoadU(kF, read.query + c)), kF,
               head.o + begin + c);
  }
}

// S0 <- Diag(keep) S0 + sum_j record_j d_j^T + k d^T, a row at a time.
template <int kTile, class Count>
void write_state(const HeadPlan& plan, const ValueHead& head, int begin, const float* d,
                 Count count) {
  constexpr int kVectors = Tile<kTile>::kVectors;
  for (int i = 0; i < head.key_dim; ++i) {
    count.floats(2 * kTile + plan.records * kTile);
    float* row = head.state + std::size_t(i) * head.value_dim + begin;
    const Vector keep = hn::Set(kF, plan.keep[i]);
    const Vector key = hn::Set(kF, plan.key[i]);
    Vector sum[kVectors];
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) {
      sum[c] = hn::Mul(keep, hn::LoadU(kF, row + c * kLanes));
      sum[c] = hn::MulAdd(key, hn::LoadU(kF, d + c * kLanes), sum[c]);
    }
    for (int j = 0; j < plan.records; ++j) {
      const Vector record = hn::Set(kF, plan.record[std::size_t(j) * head.key_dim + i]);
      const float* d_j = head.d_records + std::size_t(j) * head.value_dim + begin;
#pragma GCC unroll 16
      for (int c = 0; c < kVectors; ++c) {
        sum[c] = hn::MulAdd(record, hn::LoadU(kF, d_j + c * kLanes), sum[c]);
      }
    }
#pragma GCC unroll 16
    for (int c = 0; c < kVectors; ++c) hn::StoreU(sum[c], kF, row + c * kLanes);
  }
}

template <int kTile, class Count>
void run(const HeadPlan& plan, const ValueHead& head, int begin, Count count) {
  alignas(64) ReadOut read;
  alignas(64) float d[kTile];
  read_out<kTile>(plan, head, begin, read, count);
  correct<kTile>(plan, head, begin, read, d, count);
  if (head.flush) {
    write_state<kTile>(plan, head, begin, d, count);
  } else {
    count.floats(kTile);
    std::copy(d, d + kTile, head.d_records + std::size_t(plan.records) * head.value_dim + begin);
  }
}

}  // namespace

ValueHead value_head(const Step& step, Cache& cache, int slot, int head, float* o) {
  const Shape& s = cache.shape;
  const std::size_t at = cache.index(slot, head);
  return {s.key_dim,
          s.value_dim,
          flushes(step, cache, slot),
          step.beta[at],
          step.v + at * s.value_dim,
          cache.state(slot, head),
          cache.d_records(slot, head),
          o + at * s.value_dim};
}

template <class Count>
void run_tile(const HeadPlan& plan, const ValueHead& head, int begin, int width, Count count) {
  switch (width) {
    case 16:
      return run<16>(plan, head, begin, count);
    case 32:
      return run<32>(plan, head, begin, count);
    case 64:
      return run<64>(plan, head, begin, count);
    default:
      return run<128>(plan, head, begin, count);
  }
}
template void run_tile(const HeadPlan&, const ValueHead&, int, int, NoCount);
template void run_tile(const HeadPlan&, const ValueHead&, int, int, Counting);

}  // namespace kernels::kda_decode

// The part that attention and MLA share: softmax over groups of 16 positions as they come, and the
// sum of values that goes with it (Milakov and Gimelshein 2018; FlashAttention's inner loop).
#pragma once

#include <algorithm>

#include "kernels/cache/cache.h"
#include "kernels/simd.h"

namespace kernels::attention {

inline constexpr int kRowsAtOnce = 4;    // query rows that share each load of keys and values
inline constexpr int kRowsInBlock = 32;  // query rows that share each decoded group

// One head of one token on its way through the groups.
struct QueryRow {
  const float* q = nullptr;
  float* out = nullptr;  // [value dim], the weighted sum so far
  int limit = 0;         // sees the positions below
  float max = 0, sum = 0;
};

inline void begin(QueryRow& row, int value_dim) {
  row.max = -3e38f;  // finite, so that the first correction is exp of a number
  row.sum = 0;
  std::fill_n(row.out, value_dim, 0.0f);
}

// Takes in the scores of the first `count` positions of a group, leaves their weights in `scores`
// (zero beyond), and gives the factor for what was summed before.
inline float soften(QueryRow& row, int count, float* scores) {
  constexpr int kVectors = cache::kGroup / kLanes;
  Vector s[kVectors];
  Vector top = set(row.max);
  for (int v = 0; v < kVectors; ++v) {
    const int seen = std::clamp(count - v * kLanes, 0, kLanes);
    const auto mask = hn::FirstN(kF, std::size_t(seen));
    s[v] = hn::IfThenElse(mask, load(scores + v * kLanes), set(-3e38f));
    top = hn::Max(top, s[v]);
  }
  top = hn::MaxOfLanes(kF, top);
  Vector sum = hn::Zero(kF);
  for (int v = 0; v < kVectors; ++v) {
    const int seen = std::clamp(count - v * kLanes, 0, kLanes);
    const auto mask = hn::FirstN(kF, std::size_t(seen));
    const Vector weight = hn::IfThenElseZero(mask, exp(hn::Sub(s[v], top)));
    store(weight, scores + v * kLanes);
    sum = hn::Add(sum, weight);
  }
  const float correction = hn::GetLane(exp(hn::Sub(set(row.max), top)));
  row.max = hn::GetLane(top);
  row.sum = row.sum * correction + sum_of_lanes(sum);
  return correction;
}

// out = out * correction + sum_j weight_j value_j, for kRows rows and kVectors vectors from `d` on.
template <int kRows, int kVectors>
void add_values(QueryRow* rows, const float (*weights)[cache::kGroup], const float* correction,
                const float* values, int stride, int count, int d) {
  Vector sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = hn::Mul(load(rows[r].out + d + v * kLanes), set(correction[r]));
    }
  }
  for (int j = 0; j < count; ++j) {
    const float* value = values + std::size_t(j) * stride + d;
    for (int r = 0; r < kRows; ++r) {
      const Vector weight = set(weights[r][j]);
      for (int v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(weight, load(value + v * kLanes), sum[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store(sum[r][v], rows[r].out + d + v * kLanes);
  }
}

// The same for the last elements of a row, fewer than a vector.
inline void add_values_tail(QueryRow& row, const float* weights, float correction,
                            const float* values, int stride, int count, int d, int left) {
  Vector sum = hn::Mul(load_tail(row.out + d, left), set(correction));
  for (int j = 0; j < count; ++j) {
    const Vector value = load_tail(values + std::size_t(j) * stride + d, left);
    sum = hn::MulAdd(set(weights[j]), value, sum);
  }
  store_tail(sum, row.out + d, left);
}

// One group for kRows rows that see the same `count` of its positions. score<kRows>(rows, count,
// out) writes the scores of its 16 positions, of which those from `count` on do not matter.
template <int kRows, class Score>
void attend_group(QueryRow* rows, int count, const float* values, int value_stride, int value_dim,
                  const Score& score) {
  alignas(64) float weights[kRows][cache::kGroup];
  float correction[kRows];
  score.template run<kRows>(rows, count, weights);
  for (int r = 0; r < kRows; ++r) correction[r] = soften(rows[r], count, weights[r]);
  int d = 0;
  for (; d + 4 * kLanes <= value_dim; d += 4 * kLanes) {
    add_values<kRows, 4>(rows, weights, correction, values, value_stride, count, d);
  }
  for (; d + kLanes <= value_dim; d += kLanes) {
    add_values<kRows, 1>(rows, weights, correction, values, value_stride, count, d);
  }
  if (d == value_dim) return;
  for (int r = 0; r < kRows; ++r) {
    add_values_tail(rows[r], weights[r], correction[r], values, value_stride, count, d,
                    value_dim - d);
  }
}

// One group, from `first` on, for rows in order of their limits: four at once where they see the
// same of it.
template <class Score>
void attend_rows(QueryRow* rows, int size, int first, const float* values, int value_stride,
                 int value_dim, const Score& score) {
  const auto seen = [=](const QueryRow& row) { return std::min(row.limit - first, cache::kGroup); };
  int r = 0;
  while (r < size && seen(rows[r]) <= 0) ++r;  // of earlier tokens
  while (r < size) {
    const int count = seen(rows[r]);
    const bool together =
        count > 0 && r + kRowsAtOnce <= size && seen(rows[r + kRowsAtOnce - 1]) == count;
    if (together) {
      attend_group<kRowsAtOnce>(rows + r, count, values, value_stride, value_dim, score);
    } else {
      attend_group<1>(rows + r, count, values, value_stride, value_dim, score);
    }
    r += together ? kRowsAtOnce : 1;
  }
}

inline void end(QueryRow& row, int value_dim) {
  map(
      std::size_t(value_dim), row.out, [&](Vector v) { return hn::Div(v, set(row.sum)); },
      static_cast<const float*>(row.out));
}

}  // namespace kernels::attention

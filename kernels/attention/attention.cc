#include "kernels/attention/attention.h"

#include "kernels/attention/online_softmax.h"

namespace kernels::attention {
namespace {

// Scores against keys whose positions are lanes: no sum across lanes, and four chains a row, so
// that an addition need not wait for the one before.
struct ColumnScore {
  const float* keys;  // [key dim, 16]
  int dim;
  float scale;

  template <int kRows>
  void run(const QueryRow* rows, int, float (*out)[cache::kGroup]) const {
    for (int lane = 0; lane < cache::kGroup; lane += kLanes) chains<kRows>(rows, lane, out);
  }

  template <int kRows>
  void chains(const QueryRow* rows, int lane, float (*out)[cache::kGroup]) const {
    constexpr int kChains = 4;
    Vector sum[kRows][kChains];
    for (auto& row : sum) {
      for (Vector& v : row) v = hn::Zero(kF);
    }
    int d = 0;
    for (; d + kChains <= dim; d += kChains) {
      for (int c = 0; c < kChains; ++c) {
        const Vector key = load(keys + std::size_t(d + c) * cache::kGroup + lane);
        for (int r = 0; r < kRows; ++r) {
          sum[r][c] = hn::MulAdd(set(rows[r].q[d + c]), key, sum[r][c]);
        }
      }
    }
    for (; d < dim; ++d) {
      const Vector key = load(keys + std::size_t(d) * cache::kGroup + lane);
      for (int r = 0; r < kRows; ++r) sum[r][0] = hn::MulAdd(set(rows[r].q[d]), key, sum[r][0]);
    }
    for (int r = 0; r < kRows; ++r) {
      const Vector all = hn::Add(hn::Add(sum[r][0], sum[r][1]), hn::Add(sum[r][2], sum[r][3]));
      store(hn::Mul(all, set(scale)), out[r] + lane);
    }
  }
};

}  // namespace

std::size_t scratch_floats(const Shape& shape) {
  return std::size_t(cache::kGroup) * (shape.key_dim + shape.value_dim);
}

void attend(const Shape& shape, const cache::Pages& keys, const cache::Pages& values,
            const std::int32_t* table, int position, Range tokens, Range kv_heads, const float* q,
            float* out, float* scratch) {
  const int share = shape.heads / shape.kv_heads;
  const int all = tokens.size() * share;
  float* value_scratch = scratch + std::size_t(cache::kGroup) * shape.key_dim;
  QueryRow rows[kRowsInBlock];
  for (int kv = kv_heads.begin; kv < kv_heads.end; ++kv) {
    for (int begun = 0; begun < all; begun += kRowsInBlock) {
      const int size = std::min(kRowsInBlock, all - begun);
      for (int r = 0; r < size; ++r) {
        const int token = tokens.begin + (begun + r) / share;
        const std::size_t head =
            std::size_t(token) * shape.heads + kv * share + (begun + r) % share;
        rows[r] = {q + head * shape.key_dim, out + head * shape.value_dim, position + token + 1};
        begin(rows[r], shape.value_dim);
      }
      const int limit = rows[size - 1].limit;
      for (int first = 0; first < limit; first += cache::kGroup) {
        const int count = std::min(cache::kGroup, limit - first);
        const ColumnScore score{
            cache::decoded_group(keys, keys.group(table, kv, first), count, scratch), shape.key_dim,
            shape.scale};
        const float* group =
            cache::decoded_group(values, values.group(table, kv, first), count, value_scratch);
        attend_rows(rows, size, first, group, shape.value_dim, shape.value_dim, score);
      }
      for (int r = 0; r < size; ++r) end(rows[r], shape.value_dim);
    }
  }
}

}  // namespace kernels::attention

#include "kernels/mla/mla.h"

#include "kernels/attention/online_softmax.h"

namespace kernels::mla {
namespace {

using attention::QueryRow;

// Scores against latents that lie one after the other: a sum across lanes for each position, four
// positions at once.
struct RowScore {
  const float* latents;  // [16, dim]
  int dim;
  float scale;

  template <int kRows>
  void run(const QueryRow* rows, int count, float (*out)[cache::kGroup]) const {
    int j = 0;
    for (; j + 4 <= count; j += 4) dots<kRows, 4>(rows, j, out);
    for (; j < count; ++j) dots<kRows, 1>(rows, j, out);
    for (int r = 0; r < kRows; ++r) std::fill(out[r] + count, out[r] + cache::kGroup, 0.0f);
  }

  template <int kRows, int kPositions>
  void dots(const QueryRow* rows, int j, float (*out)[cache::kGroup]) const {
    Vector sum[kRows][kPositions];
    for (auto& row : sum) {
      for (Vector& v : row) v = hn::Zero(kF);
    }
    const auto add = [&](int d, auto load_some) {
      Vector latent[kPositions];
      for (int p = 0; p < kPositions; ++p) {
        latent[p] = load_some(latents + std::size_t(j + p) * dim + d);
      }
      for (int r = 0; r < kRows; ++r) {
        const Vector query = load_some(rows[r].q + d);
        for (int p = 0; p < kPositions; ++p) {
          sum[r][p] = hn::MulAdd(query, latent[p], sum[r][p]);
        }
      }
    };
    int d = 0;
    for (; d + kLanes <= dim; d += kLanes) add(d, [](const float* p) { return load(p); });
    const int left = dim - d;
    if (left > 0) add(d, [=](const float* p) { return load_tail(p, left); });
    for (int r = 0; r < kRows; ++r) {
      for (int p = 0; p < kPositions; ++p) out[r][j + p] = sum_of_lanes(sum[r][p]) * scale;
    }
  }
};

}  // namespace

std::size_t scratch_floats(const Shape& shape) {
  return std::size_t(cache::kGroup) * (shape.rank + shape.rope_dim);
}

void attend(const Shape& shape, const cache::Pages& latents, const std::int32_t* table,
            int position, Range tokens, Range heads, const float* q, float* out, float* scratch) {
  const int dim = shape.rank + shape.rope_dim;
  const int all = tokens.size() * heads.size();
  QueryRow rows[attention::kRowsInBlock];
  for (int begun = 0; begun < all; begun += attention::kRowsInBlock) {
    const int size = std::min(attention::kRowsInBlock, all - begun);
    for (int r = 0; r < size; ++r) {
      const int token = tokens.begin + (begun + r) / heads.size();
      const int head = heads.begin + (begun + r) % heads.size();
      const std::size_t at = std::size_t(token) * shape.heads + head;
      rows[r] = {q + at * dim, out + at * shape.rank, position + token + 1};
      attention::begin(rows[r], shape.rank);
    }
    const int limit = rows[size - 1].limit;
    for (int first = 0; first < limit; first += cache::kGroup) {
      const int count = std::min(cache::kGroup, limit - first);
      const float* group =
          cache::decoded_group(latents, latents.group(table, 0, first), count, scratch);
      attention::attend_rows(rows, size, first, group, dim, shape.rank,
                             RowScore{group, dim, shape.scale});
    }
    for (int r = 0; r < size; ++r) attention::end(rows[r], shape.rank);
  }
}

}  // namespace kernels::mla

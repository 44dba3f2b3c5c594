#include "serving/model/mla_layer.h"

#include <algorithm>

#include "kernels/norm/norm.h"
#include "serving/trace/trace.h"

namespace serving::model {
namespace {

using kernels::Range;

kernels::mla::Shape mla_shape(const Config& config) {
  return {config.heads, config.mla.rank, config.mla.rope_dim, config.attention_scale};
}

}  // namespace

MlaWorkspace::MlaWorkspace(const Config& config, int most_rows) {
  const Mla& m = config.mla;
  const auto rows = std::size_t(most_rows), all = rows * config.heads;
  q = AlignedBuffer<float>(all * m.key_dim());
  latents = AlignedBuffer<float>(rows * (m.rank + m.rope_dim));
  by_head = AlignedBuffer<float>(all * std::max(m.nope_dim, m.rank));
  product = AlignedBuffer<float>(all * std::max(m.value_dim, m.rank));
  absorbed = AlignedBuffer<float>(all * (m.rank + m.rope_dim));
  attended = AlignedBuffer<float>(all * m.rank);
  heads = AlignedBuffer<float>(all * m.value_dim);
  products.resize(config.heads);
}

MlaLayer::MlaLayer(const Config& config, const MlaWeights& w, const CacheOptions& cache,
                   ThreadPool& pool, MlaWorkspace& workspace)
    : dims_(config.mla),
      shape_(mla_shape(config)),
      epsilon_(config.epsilon),
      q_(w.q, pool),
      kv_a_(w.kv_a, pool),
      out_(w.out, pool),
      k_b_(linears(w.k_b, pool)),
      v_b_(linears(w.v_b, pool)),
      kv_norm_(w.kv_norm->values()),
      latents_(cache, kernels::cache::Order::rows, 1, config.mla.rank + config.mla.rope_dim),
      scratch_(pool.threads(), kernels::mla::scratch_floats(shape_)),
      space_(workspace) {}

void MlaLayer::forward(const Pass& pass, const float* x, float* out) {
  const TraceSpan span("model.mla", {"layer", pass.layer});
  const Range all{0, pass.rows};
  const Product products[] = {{&q_, all, space_.q.data()}, {&kv_a_, all, space_.latents.data()}};
  pass.multiplier.run(x, pass.rows, products);
  absorb(pass);
  attend(pass);
  project_values(pass);
  pass.multiplier.run(space_.heads.data(), pass.rows, out_, out);
}

void MlaLayer::run_by_head(const Pass& pass, const std::vector<Linear>& matrices) {
  for (int h = 0; h < shape_.heads; ++h) {
    space_.products[h] = {
        &matrices[h], {h * pass.rows, (h + 1) * pass.rows}, space_.product.data()};
  }
  pass.multiplier.run(space_.by_head.data(), shape_.heads * pass.rows, space_.products);
}

// Normalises the latents, and takes the queries to where the latents are.
void MlaLayer::absorb(const Pass& pass) {
  const int nope = dims_.nope_dim, rope = dims_.rope_dim, rank = dims_.rank;
  const std::size_t wide = std::size_t(rank) + rope;
  pass.for_rows([&](Range rows) {
    for (int row = rows.begin; row < rows.end; ++row) {
      float* latent = space_.latents.data() + row * wide;
      kernels::norm::rms_norm(latent, kv_norm_.data(), epsilon_, rank, {0, 1}, latent);
      for (int h = 0; h < shape_.heads; ++h) {
        const float* q = space_.q.data() + (std::size_t(row) * shape_.heads + h) * (nope + rope);
        std::copy_n(q, nope, space_.by_head.data() + (std::size_t(h) * pass.rows + row) * nope);
      }
    }
  });
  run_by_head(pass, k_b_);
  pass.for_rows([&](Range rows) {
    for (int row = rows.begin; row < rows.end; ++row) {
      for (int h = 0; h < shape_.heads; ++h) {
        const std::size_t head = std::size_t(row) * shape_.heads + h;
        float* absorbed = space_.absorbed.data() + head * wide;
        std::copy_n(space_.product.data() + (std::size_t(h) * pass.rows + row) * rank, rank,
                    absorbed);
        std::copy_n(space_.q.data() + head * (nope + rope) + nope, rope, absorbed + rank);
      }
    }
  });
}

void MlaLayer::attend(const Pass& pass) {
  const std::size_t wide = std::size_t(dims_.rank) + dims_.rope_dim;
  pass.for_tiles(kAttentionTile * 4, 1, [&](const Piece& piece, Range tokens, int, int) {
    kernels::cache::write(latents_.pages(), piece.pages, piece.position, tokens, {0, 1},
                          space_.latents.data() + piece.row * wide);
  });
  // A decode has one token: its heads are what threads can share. Long prefills have tokens enough.
  const int groups = pass.rows < pass.pool.threads() ? std::min(shape_.heads, 4) : 1;
  pass.for_tiles(
      kAttentionTile, groups, [&](const Piece& piece, Range tokens, int group, int worker) {
        const TraceSpan span("model.mla.attend", {"layer", pass.layer},
                             {"position", piece.position + tokens.begin});
        const Range heads{shape_.heads * group / groups, shape_.heads * (group + 1) / groups};
        const auto head = std::size_t(piece.row) * shape_.heads;
        kernels::mla::attend(shape_, latents_.pages(), piece.pages, piece.position, tokens, heads,
                             space_.absorbed.data() + head * wide,
                             space_.attended.data() + head * dims_.rank, scratch_.of(worker));
      });
}

void MlaLayer::project_values(const Pass& pass) {
  const int rank = dims_.rank, value = dims_.value_dim;
  const auto at = [&](int row, int h) { return std::size_t(row) * shape_.heads + h; };
  const auto at_head = [&](int row, int h) { return std::size_t(h) * pass.rows + row; };
  pass.for_rows([&](Range rows) {
    for (int row = rows.begin; row < rows.end; ++row) {
      for (int h = 0; h < shape_.heads; ++h) {
        std::copy_n(space_.attended.data() + at(row, h) * rank, rank,
                    space_.by_head.data() + at_head(row, h) * rank);
      }
    }
  });
  run_by_head(pass, v_b_);
  pass.for_rows([&](Range rows) {
    for (int row = rows.begin; row < rows.end; ++row) {
      for (int h = 0; h < shape_.heads; ++h) {
        std::copy_n(space_.product.data() + at_head(row, h) * value, value,
                    space_.heads.data() + at(row, h) * value);
      }
    }
  });
}

}  // namespace serving::model

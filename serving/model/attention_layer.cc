#include "serving/model/attention_layer.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "kernels/norm/norm.h"
#include "serving/trace/trace.h"

namespace serving::model {
namespace {

using kernels::Range;

std::vector<float> optional_values(Weight weight) {
  return weight == nullptr ? std::vector<float>() : weight->values();
}

void add_to_rows(const std::vector<float>& bias, Range rows, float* y) {
  if (bias.empty()) return;
  for (int row = rows.begin; row < rows.end; ++row) {
    kernels::elementwise::add(bias.data(), bias.size(), y + row * bias.size());
  }
}

kernels::attention::Shape attention_shape(const Config& config, int kv_heads) {
  return {config.heads, kv_heads, config.key_dim, config.value_dim, config.attention_scale};
}

}  // namespace

AttentionWorkspace::AttentionWorkspace(const Config& config, int most_rows) {
  const int kv_heads = *std::max_element(config.kv_heads.begin(), config.kv_heads.end());
  const auto rows = std::size_t(most_rows);
  q = AlignedBuffer<float>(rows * config.heads * config.key_dim);
  k = AlignedBuffer<float>(rows * kv_heads * config.key_dim);
  v = AlignedBuffer<float>(rows * kv_heads * config.value_dim);
  heads = AlignedBuffer<float>(rows * config.heads * config.value_dim);
}

AttentionLayer::AttentionLayer(const Config& config, const AttentionWeights& w, int kv_heads,
                               const CacheOptions& cache, ThreadPool& pool,
                               AttentionWorkspace& workspace)
    : shape_(attention_shape(config, kv_heads)),
      rope_(config.rope),
      epsilon_(config.epsilon),
      q_(w.q, pool),
      k_(w.k, pool),
      v_(w.v, pool),
      out_(w.out, pool),
      q_bias_(optional_values(w.q_bias)),
      k_bias_(optional_values(w.k_bias)),
      v_bias_(optional_values(w.v_bias)),
      q_norm_(optional_values(w.q_norm)),
      k_norm_(optional_values(w.k_norm)),
      out_bias_(optional_values(w.out_bias)),
      keys_(cache, kernels::cache::Order::columns, kv_heads, config.key_dim),
      values_(cache, kernels::cache::Order::rows, kv_heads, config.value_dim),
      scratch_(pool.threads(), kernels::attention::scratch_floats(shape_)),
      space_(workspace) {}

void AttentionLayer::forward(const Pass& pass, const float* x, float* out) {
  const TraceSpan span("model.attention", {"layer", pass.layer});
  const Range all{0, pass.rows};
  const Product products[] = {
      {&q_, all, space_.q.data()}, {&k_, all, space_.k.data()}, {&v_, all, space_.v.data()}};
  pass.multiplier.run(x, pass.rows, products);
  pass.for_rows([&](Range rows) { ready(pass, rows); });
  store(pass);
  attend(pass);
  pass.multiplier.run(space_.heads.data(), pass.rows, out_, out);
  if (!out_bias_.empty()) pass.for_rows([&](Range rows) { add_to_rows(out_bias_, rows, out); });
}

void AttentionLayer::ready(const Pass& pass, Range rows) {
  add_to_rows(q_bias_, rows, space_.q.data());
  add_to_rows(k_bias_, rows, space_.k.data());
  add_to_rows(v_bias_, rows, space_.v.data());
  const auto turn = [&](float* x, int heads, const std::vector<float>& norm) {
    if (!norm.empty()) {
      kernels::norm::rms_norm(x, norm.data(), epsilon_, shape_.key_dim,
                              {rows.begin * heads, rows.end * heads}, x);
    }
    if (pass.angles == nullptr) return;
    kernels::rope::rotate(
        {heads, shape_.key_dim, 0, rope_.dims},
        rope_.adjacent ? kernels::rope::Pairing::adjacent : kernels::rope::Pairing::half,
        pass.angles, rows, x);
  };
  turn(space_.q.data(), shape_.heads, q_norm_);
  turn(space_.k.data(), shape_.kv_heads, k_norm_);
}

void AttentionLayer::store(const Pass& pass) {
  pass.for_tiles(kAttentionTile * 4, 1, [&](const Piece& piece, Range tokens, int, int) {
    const Range heads{0, shape_.kv_heads};
    const auto row = std::size_t(piece.row) * shape_.kv_heads;
    kernels::cache::write(keys_.pages(), piece.pages, piece.position, tokens, heads,
                          space_.k.data() + row * shape_.key_dim);
    kernels::cache::write(values_.pages(), piece.pages, piece.position, tokens, heads,
                          space_.v.data() + row * shape_.value_dim);
  });
}

void AttentionLayer::attend(const Pass& pass) {
  pass.for_tiles(kAttentionTile, shape_.kv_heads,
                 [&](const Piece& piece, Range tokens, int kv_head, int worker) {
                   const TraceSpan span("model.attention.attend", {"layer", pass.layer},
                                        {"position", piece.position + tokens.begin});
                   const auto row = std::size_t(piece.row) * shape_.heads;
                   kernels::attention::attend(
                       shape_, keys_.pages(), values_.pages(), piece.pages, piece.position, tokens,
                       {kv_head, kv_head + 1}, space_.q.data() + row * shape_.key_dim,
                       space_.heads.data() + row * shape_.value_dim, scratch_.of(worker));
                 });
}

void AttentionLayer::copy_page(PageId from, PageId to) {
  keys_.copy(from, to);
  values_.copy(from, to);
}

}  // namespace serving::model

#include "serving/model/kda_layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/elementwise/elementwise.h"
#include "kernels/norm/norm.h"
#include "kernels/short_conv/short_conv.h"
#include "serving/trace/trace.h"

namespace serving::model {
namespace {

using kernels::Range;

constexpr int kConvTile = 64;  // channels of a task
constexpr std::size_t kLineFloats = 16;

std::size_t conv_floats(const kernels::kda::Shape& shape) {
  return std::size_t(kernels::short_conv::kWidth - 1) * shape.heads * shape.key_dim;
}

std::size_t padded(std::size_t floats) {
  return (floats + kLineFloats - 1) / kLineFloats * kLineFloats;
}

// The file holds -exp(A_log).
std::vector<float> decay_rates(Weight a) {
  std::vector<float> rates = a->values();
  for (float& rate : rates) rate = -rate;
  return rates;
}

}  // namespace

Status check_kda(const Kda& kda) {
  if (kda.head_dim % 16 != 0) {
    return fail(ErrorCode::bad_input,
                "kda.head_dim: expected a multiple of 16, found " + std::to_string(kda.head_dim));
  }
  if (kda.conv_width != kernels::short_conv::kWidth) {
    return fail(ErrorCode::bad_input,
                "ssm.conv_kernel: expected 4, found " + std::to_string(kda.conv_width));
  }
  return {};
}

KdaWorkspace::KdaWorkspace(const Config& config, int most_rows) {
  const auto rows = std::size_t(most_rows);
  const std::size_t inner = rows * config.heads * config.kda.head_dim;
  for (auto* group : {&projected, &mixed}) {
    for (AlignedBuffer<float>& buffer : *group) buffer = AlignedBuffer<float>(inner);
  }
  for (auto* buffer : {&decay, &gate, &heads}) *buffer = AlignedBuffer<float>(inner);
  for (auto* buffer : {&decay_low, &gate_low}) {
    *buffer = AlignedBuffer<float>(rows * config.kda.head_dim);
  }
  beta = AlignedBuffer<float>(rows * config.heads);
}

KdaLayer::KdaLayer(const Config& config, const KdaWeights& w, int slots, ThreadPool& pool,
                   KdaWorkspace& workspace)
    : shape_{config.heads, config.kda.head_dim, config.kda.head_dim},
      epsilon_(config.epsilon),
      qkv_{Linear(w.q, pool), Linear(w.k, pool), Linear(w.v, pool)},
      f_a_(w.f_a, pool),
      f_b_(w.f_b, pool),
      beta_(w.beta, pool),
      g_a_(w.g_a, pool),
      g_b_(w.g_b, pool),
      out_(w.out, pool),
      conv_{w.conv_q->values(), w.conv_k->values(), w.conv_v->values()},
      rate_(decay_rates(w.a)),
      dt_bias_(w.dt_bias->values()),
      norm_(w.norm->values()),
      slot_floats_(padded(kernels::kda::state_floats(shape_)) + 3 * padded(conv_floats(shape_))),
      slots_(slot_floats_ * slots),
      scratch_(pool.threads(), kernels::kda::scratch_floats(shape_)),
      space_(workspace) {}

void KdaLayer::forward(const Pass& pass, const float* x, float* out) {
  const TraceSpan span("model.kda", {"layer", pass.layer});
  project(pass, x);
  convolve(pass);
  pass.for_rows([&](Range rows) { make_gates(pass, rows); });
  pass.for_tiles(kAllTokens, shape_.heads, [&](const Piece& piece, Range, int h, int worker) {
    const TraceSpan head_span("model.kda.recur", {"layer", pass.layer}, {"head", h},
                              {"tokens", piece.tokens});
    const auto row = std::size_t(piece.row) * shape_.heads;
    const std::size_t at = row * shape_.key_dim;
    const kernels::kda::Tokens tokens = {space_.mixed[0].data() + at, space_.mixed[1].data() + at,
                                         space_.mixed[2].data() + at, space_.decay.data() + at,
                                         space_.beta.data() + row};
    kernels::kda::forward(shape_, tokens, piece.tokens, piece.position, {h, h + 1},
                          slot(piece.slot), space_.heads.data() + at, scratch_.of(worker));
  });
  pass.for_rows([&](Range rows) {
    const Range heads{rows.begin * shape_.heads, rows.end * shape_.heads};
    const auto from = std::size_t(heads.begin) * shape_.value_dim;
    const auto size = std::size_t(heads.size()) * shape_.value_dim;
    float* o = space_.heads.data();
    kernels::norm::rms_norm(o, norm_.data(), epsilon_, shape_.value_dim, heads, o);
    kernels::elementwise::sigmoid_multiply(o + from, space_.gate.data() + from, size, o + from);
  });
  pass.multiplier.run(space_.heads.data(), pass.rows, out_, out);
}

void KdaLayer::project(const Pass& pass, const float* x) {
  const Range all{0, pass.rows};
  const Product products[] = {
      {&qkv_[0], all, space_.projected[0].data()}, {&qkv_[1], all, space_.projected[1].data()},
      {&qkv_[2], all, space_.projected[2].data()}, {&f_a_, all, space_.decay_low.data()},
      {&g_a_, all, space_.gate_low.data()},        {&beta_, all, space_.beta.data()}};
  pass.multiplier.run(x, pass.rows, products);
  pass.multiplier.run(space_.decay_low.data(), pass.rows, f_b_, space_.decay.data());
  pass.multiplier.run(space_.gate_low.data(), pass.rows, g_b_, space_.gate.data());
}

void KdaLayer::convolve(const Pass& pass) {
  const int inner = shape_.heads * shape_.key_dim;
  const int tiles = (inner + kConvTile - 1) / kConvTile;
  pass.for_tiles(kAllTokens, 3 * tiles, [&](const Piece& piece, Range, int group, int) {
    const int which = group / tiles, first = group % tiles * kConvTile;
    const std::size_t at = std::size_t(piece.row) * inner;
    kernels::short_conv::forward(space_.projected[which].data() + at, conv_[which].data(), inner,
                                 piece.tokens, {first, std::min(first + kConvTile, inner)},
                                 conv_state(piece.slot, which), space_.mixed[which].data() + at);
  });
}

void KdaLayer::make_gates(const Pass&, Range rows) {
  const Range heads{rows.begin * shape_.heads, rows.end * shape_.heads};
  // llama.cpp's epsilon is a least length; below the root it is one to within rounding.
  const float epsilon = epsilon_ * epsilon_;
  float* q = space_.mixed[0].data();
  float* k = space_.mixed[1].data();
  kernels::norm::l2_norm(q, epsilon, 1 / std::sqrt(float(shape_.key_dim)), shape_.key_dim, heads,
                         q);
  kernels::norm::l2_norm(k, epsilon, 1, shape_.key_dim, heads, k);
  kernels::elementwise::kda_gate(space_.decay.data(), dt_bias_.data(), rate_.data(), shape_.heads,
                                 shape_.key_dim, rows, space_.decay.data());
  float* beta = space_.beta.data() + heads.begin;
  kernels::elementwise::sigmoid(beta, std::size_t(heads.size()), beta);
}

float* KdaLayer::conv_state(SlotId id, int which) {
  return slot(id) + padded(kernels::kda::state_floats(shape_)) +
         which * padded(conv_floats(shape_));
}

void KdaLayer::reset_slot(SlotId id) { std::fill_n(slot(id), slot_floats_, 0.0f); }

void KdaLayer::copy_slot(SlotId from, SlotId to) {
  std::memcpy(slot(to), slot(from), slot_floats_ * sizeof(float));
}

}  // namespace serving::model

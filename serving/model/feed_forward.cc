#include "serving/model/feed_forward.h"

#include <algorithm>

#include "kernels/elementwise/elementwise.h"
#include "serving/trace/trace.h"

namespace serving::model {
namespace {

using kernels::Range;

// gate[row] = silu(gate[row]) * up[row], for rows of `width`.
void activate(Range rows, int width, float* gate, const float* up) {
  const auto from = std::size_t(rows.begin) * width;
  kernels::elementwise::silu_multiply(gate + from, up + from, std::size_t(rows.size()) * width,
                                      gate + from);
}

kernels::routing::Rule routing_rule(const Experts& e) {
  return {e.sigmoid ? kernels::routing::Gating::sigmoid : kernels::routing::Gating::softmax,
          e.count, e.used, e.normalise, e.scale};
}

}  // namespace

FeedForwardWorkspace::FeedForwardWorkspace(const Config& config, int most_rows) {
  const auto rows = std::size_t(most_rows);
  const Experts& e = config.experts;
  const std::size_t width = std::max(config.ffn_dim, e.shared_dim);
  gate = AlignedBuffer<float>(rows * width);
  up = AlignedBuffer<float>(rows * width);
  if (e.count == 0) return;
  const std::size_t assignments = rows * e.used;
  router = AlignedBuffer<float>(rows * e.count);
  ids = AlignedBuffer<std::int32_t>(assignments);
  weights = AlignedBuffer<float>(assignments);
  place = AlignedBuffer<std::int32_t>(assignments);
  begin = AlignedBuffer<std::int32_t>(e.count + 1);
  filled = AlignedBuffer<std::int32_t>(e.count);
  inputs = AlignedBuffer<float>(assignments * config.dim);
  outputs = AlignedBuffer<float>(assignments * config.dim);
  expert_gate = AlignedBuffer<float>(assignments * e.dim);
  expert_up = AlignedBuffer<float>(assignments * e.dim);
  products.reserve(2 * std::size_t(e.count));
}

DenseLayer::DenseLayer(const DenseWeights& w, ThreadPool& pool, FeedForwardWorkspace& workspace)
    : gate_(w.gate, pool), up_(w.up, pool), down_(w.down, pool), space_(workspace) {}

void DenseLayer::forward(const Pass& pass, const float* x, float* out) {
  const TraceSpan span("model.dense", {"layer", pass.layer});
  const Range all{0, pass.rows};
  const Product products[] = {{&gate_, all, space_.gate.data()}, {&up_, all, space_.up.data()}};
  pass.multiplier.run(x, pass.rows, products);
  pass.for_rows(
      [&](Range rows) { activate(rows, gate_.rows(), space_.gate.data(), space_.up.data()); });
  pass.multiplier.run(space_.gate.data(), pass.rows, down_, out);
}

ExpertLayer::ExpertLayer(const Config& config, const ExpertWeights& w, ThreadPool& pool,
                         FeedForwardWorkspace& workspace)
    : dim_(config.dim),
      expert_dim_(config.experts.dim),
      rule_(routing_rule(config.experts)),
      router_(w.router, pool),
      bias_(w.bias == nullptr ? std::vector<float>() : w.bias->values()),
      gate_(linears(w.gate, pool)),
      up_(linears(w.up, pool)),
      down_(linears(w.down, pool)),
      scratch_(pool.threads(), 2 * std::size_t(config.experts.count)),
      space_(workspace) {
  if (w.shared.gate != nullptr) shared_ = std::make_unique<DenseLayer>(w.shared, pool, workspace);
}

void ExpertLayer::forward(const Pass& pass, const float* x, float* out) {
  const TraceSpan span("model.experts", {"layer", pass.layer});
  route(pass, x);
  assign(pass, x);
  compute(pass);
  if (shared_) {
    shared_->forward(pass, x, out);
  } else {
    std::fill_n(out, std::size_t(pass.rows) * dim_, 0.0f);
  }
  combine(pass, out);
}

void ExpertLayer::route(const Pass& pass, const float* x) {
  pass.multiplier.run(x, pass.rows, router_, space_.router.data());
  kernels::routing::route(rule_, space_.router.data(), bias_.empty() ? nullptr : bias_.data(),
                          {0, pass.rows}, space_.ids.data(), space_.weights.data(), scratch_.of(0));
}

// Brings the tokens of each expert together (a counting sort).
void ExpertLayer::assign(const Pass& pass, const float* x) {
  const int assignments = pass.rows * rule_.used;
  std::int32_t* begin = space_.begin.data();
  std::fill_n(begin, rule_.experts + 1, 0);
  for (int a = 0; a < assignments; ++a) ++begin[space_.ids[a] + 1];
  for (int e = 0; e < rule_.experts; ++e) begin[e + 1] += begin[e];
  std::copy_n(begin, rule_.experts, space_.filled.data());
  for (int a = 0; a < assignments; ++a) space_.place[a] = space_.filled[space_.ids[a]]++;
  pass.for_rows([&](Range rows) {
    for (int a = rows.begin * rule_.used; a < rows.end * rule_.used; ++a) {
      std::copy_n(x + std::size_t(a / rule_.used) * dim_, dim_,
                  space_.inputs.data() + std::size_t(space_.place[a]) * dim_);
    }
  });
}

void ExpertLayer::run(const Pass& pass, const std::vector<Linear>& matrices, const float* x,
                      float* y) {
  space_.products.clear();
  for (int e = 0; e < rule_.experts; ++e) {
    const Range rows{space_.begin[e], space_.begin[e + 1]};
    if (rows.size() > 0) space_.products.push_back({&matrices[e], rows, y});
  }
  pass.multiplier.run(x, pass.rows * rule_.used, space_.products);
}

void ExpertLayer::compute(const Pass& pass) {
  run(pass, gate_, space_.inputs.data(), space_.expert_gate.data());
  run(pass, up_, space_.inputs.data(), space_.expert_up.data());
  pass.for_rows([&](Range rows) {
    activate({rows.begin * rule_.used, rows.end * rule_.used}, expert_dim_,
             space_.expert_gate.data(), space_.expert_up.data());
  });
  run(pass, down_, space_.expert_gate.data(), space_.outputs.data());
}

// In the order in which the router chose: a token's sum does not depend on the others.
void ExpertLayer::combine(const Pass& pass, float* out) {
  pass.for_rows([&](Range rows) {
    for (int a = rows.begin * rule_.used; a < rows.end * rule_.used; ++a) {
      kernels::elementwise::add_scaled(space_.outputs.data() + std::size_t(space_.place[a]) * dim_,
                                       space_.weights[a], std::size_t(dim_),
                                       out + std::size_t(a / rule_.used) * dim_);
    }
  });
}

}  // namespace serving::model

// SwiGLU, dense or by experts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/routing/routing.h"
#include "serving/model/layer.h"
#include "serving/model/page_cache.h"

namespace serving::model {

struct FeedForwardWorkspace {
  FeedForwardWorkspace(const Config& config, int most_rows);
  AlignedBuffer<float> gate, up;  // [rows, the widest feed-forward]
  // Of experts: assignments are pairs (token, expert), [rows * used], in order of the experts.
  AlignedBuffer<float> router;                  // [rows, count]
  AlignedBuffer<std::int32_t> ids;              // [rows, used]
  AlignedBuffer<float> weights;                 // [rows, used]
  AlignedBuffer<std::int32_t> place;            // [rows, used]: where the assignment stands
  AlignedBuffer<std::int32_t> begin;            // [count + 1]: of each expert's assignments
  AlignedBuffer<std::int32_t> filled;           // [count]
  AlignedBuffer<float> inputs, outputs;         // [assignments, dim]
  AlignedBuffer<float> expert_gate, expert_up;  // [assignments, expert's dim]
  std::vector<Product> products;
};

// down(silu(gate x) * up x)
class DenseLayer final : public FeedForward {
 public:
  DenseLayer(const DenseWeights& weights, ThreadPool& pool, FeedForwardWorkspace& workspace);
  void forward(const Pass& pass, const float* x, float* out) override;

 private:
  Linear gate_, up_, down_;
  FeedForwardWorkspace& space_;
};

// The weighted sum of the experts that a token is sent to, and of the shared one.
class ExpertLayer final : public FeedForward {
 public:
  ExpertLayer(const Config& config, const ExpertWeights& weights, ThreadPool& pool,
              FeedForwardWorkspace& workspace);
  void forward(const Pass& pass, const float* x, float* out) override;

 private:
  void route(const Pass& pass, const float* x);
  void assign(const Pass& pass, const float* x);
  void compute(const Pass& pass);
  void combine(const Pass& pass, float* out);
  // The products of all experts that have assignments.
  void run(const Pass& pass, const std::vector<Linear>& matrices, const float* x, float* y);

  int dim_, expert_dim_;
  kernels::routing::Rule rule_;
  Linear router_;
  std::vector<float> bias_;  // may be empty
  std::vector<Linear> gate_, up_, down_;
  std::unique_ptr<DenseLayer> shared_;  // may be null
  WorkerScratch scratch_;
  FeedForwardWorkspace& space_;
};

}  // namespace serving::model

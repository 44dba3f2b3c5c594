// Grouped-query attention with rotary positions over paged keys and values.
#pragma once

#include <memory>
#include <vector>

#include "kernels/attention/attention.h"
#include "kernels/rope/rope.h"
#include "serving/model/layer.h"
#include "serving/model/page_cache.h"

namespace serving::model {

// Activations that the attention layers of a model share, one after another.
struct AttentionWorkspace {
  AttentionWorkspace(const Config& config, int most_rows);
  AlignedBuffer<float> q, k, v, heads;
};

class AttentionLayer final : public Mixer {
 public:
  AttentionLayer(const Config& config, const AttentionWeights& weights, int kv_heads,
                 const CacheOptions& cache, ThreadPool& pool, AttentionWorkspace& workspace);

  void forward(const Pass& pass, const float* x, float* out) override;
  void copy_page(PageId from, PageId to) override;

 private:
  void ready(const Pass& pass, kernels::Range rows);  // biases, norms, rotation, into the cache
  void store(const Pass& pass);
  void attend(const Pass& pass);

  kernels::attention::Shape shape_;
  Rope rope_;
  float epsilon_;
  Linear q_, k_, v_, out_;
  std::vector<float> q_bias_, k_bias_, v_bias_, q_norm_, k_norm_, out_bias_;  // may be empty
  PageCache keys_, values_;
  WorkerScratch scratch_;
  AttentionWorkspace& space_;
};

}  // namespace serving::model

// Multi-head latent attention over a compact cache: one latent and one shared key a position. In
// absorbed form: a query's own part goes through k_b to the latent's space, what was attended comes
// back through v_b, so that the cache is read once for all heads.
#pragma once

#include <vector>

#include "kernels/mla/mla.h"
#include "serving/model/layer.h"
#include "serving/model/page_cache.h"

namespace serving::model {

struct MlaWorkspace {
  MlaWorkspace(const Config& config, int most_rows);
  AlignedBuffer<float> q;         // [rows, heads, nope + rope]
  AlignedBuffer<float> latents;   // [rows, rank + rope]: what the cache keeps
  AlignedBuffer<float> by_head;   // [heads, rows, ...]: inputs of the products of each head
  AlignedBuffer<float> product;   // [heads, rows, ...]: and their outputs
  AlignedBuffer<float> absorbed;  // [rows, heads, rank + rope]
  AlignedBuffer<float> attended;  // [rows, heads, rank]
  AlignedBuffer<float> heads;     // [rows, heads, value_dim]
  std::vector<Product> products;
};

class MlaLayer final : public Mixer {
 public:
  MlaLayer(const Config& config, const MlaWeights& weights, const CacheOptions& cache,
           ThreadPool& pool, MlaWorkspace& workspace);

  void forward(const Pass& pass, const float* x, float* out) override;
  void copy_page(PageId from, PageId to) override { latents_.copy(from, to); }

 private:
  void absorb(const Pass& pass);
  void attend(const Pass& pass);
  void project_values(const Pass& pass);
  // Each head's matrix times its rows of by_head, into product.
  void run_by_head(const Pass& pass, const std::vector<Linear>& matrices);

  Mla dims_;
  kernels::mla::Shape shape_;
  float epsilon_;
  Linear q_, kv_a_, out_;
  std::vector<Linear> k_b_, v_b_;  // a head
  std::vector<float> kv_norm_;
  PageCache latents_;
  WorkerScratch scratch_;
  MlaWorkspace& space_;
};

}  // namespace serving::model

// The pages of one layer: memory for a kernels::cache::Pages.
#pragma once

#include <cstring>

#include "kernels/cache/cache.h"
#include "serving/core/aligned_buffer.h"
#include "serving/model/cache_options.h"
#include "serving/model/model.h"

namespace serving::model {

class PageCache {
 public:
  PageCache(const CacheOptions& options, kernels::cache::Order order, int heads, int dim) {
    pages_.type = options.type == CacheType::f32   ? kernels::DType::f32
                  : options.type == CacheType::f16 ? kernels::DType::f16
                                                   : kernels::DType::i8;
    pages_.order = order;
    pages_.page_tokens = options.page_tokens;
    pages_.heads = heads;
    pages_.dim = dim;
    memory_ = AlignedBuffer<std::byte>(pages_.page_bytes() * options.pages);
    pages_.data = memory_.data();
  }

  const kernels::cache::Pages& pages() const { return pages_; }
  void copy(PageId from, PageId to) {
    const std::size_t bytes = pages_.page_bytes();
    std::memcpy(memory_.data() + bytes * to, memory_.data() + bytes * from, bytes);
  }

 private:
  kernels::cache::Pages pages_;
  AlignedBuffer<std::byte> memory_;
};

// Each worker's own scratch, at a cache line.
class WorkerScratch {
 public:
  WorkerScratch(int workers, std::size_t floats)
      : stride_((floats + 15) / 16 * 16), memory_(stride_ * workers) {}
  float* of(int worker) { return memory_.data() + stride_ * worker; }

 private:
  std::size_t stride_;
  AlignedBuffer<float> memory_;
};

// Tokens that an attention task takes together: they share each read of the cache.
inline constexpr int kAttentionTile = 16;

}  // namespace serving::model

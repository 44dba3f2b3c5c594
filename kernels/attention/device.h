// Paged decode attention on an NVIDIA GPU: one new token of each of several sequences. Compiled,
// but never yet run: no machine with a GPU was at hand.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/attention/attention.h"

namespace kernels::attention {

inline constexpr int kMaxDeviceDim = 256;  // of keys and values

// A paged cache on the device, f32, keys and values alike: page, head, position, dim.
class DeviceDecode {
 public:
  // `pages` of `page_tokens` positions; `batch` sequences of up to `page_limit` pages each. Throws
  // DeviceError where there is no GPU, std::invalid_argument for dims beyond kMaxDeviceDim.
  DeviceDecode(const Shape& shape, int pages, int page_tokens, int batch, int page_limit);
  ~DeviceDecode();
  DeviceDecode(const DeviceDecode&) = delete;
  DeviceDecode& operator=(const DeviceDecode&) = delete;

  // All pages: [pages, kv_heads, page_tokens, dim].
  void upload_cache(const float* keys, const float* values);
  // tables [batch, page_limit]; lengths [batch], positions that are seen, at least one; q as
  // attend()'s.
  void upload_step(const std::int32_t* tables, const std::int32_t* lengths, const float* q);
  float launch_ms();          // its time on the device
  void download(float* out);  // [batch, heads, value_dim]

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace kernels::attention

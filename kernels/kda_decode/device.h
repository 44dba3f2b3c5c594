// KDA decode on an NVIDIA GPU: v0 and v3. Compiled, but never yet run: no machine with a GPU was at
// hand.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kernels/kda_decode/shape.h"
#include "kernels/lab/device_error.h"

namespace kernels::kda_decode {

// A Cache on the device, with its inputs and outputs.
class DeviceKernel {
 public:
  // variant is 0 or 3.
  DeviceKernel(int variant, const Shape& shape, const Gate& gate, int ring, const Floats& state);
  ~DeviceKernel();
  DeviceKernel(const DeviceKernel&) = delete;
  DeviceKernel& operator=(const DeviceKernel&) = delete;

  void upload(const Step& step);
  float launch_ms();  // one step over the uploaded inputs; its time on the device
  void download(std::span<float> o);
  Cache cache() const;  // a copy

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace kernels::kda_decode

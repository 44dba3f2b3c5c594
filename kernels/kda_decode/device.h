// KDA decode on an NVIDIA GPU: v0 and v3. Compiled, but never yet run: no machine with a GPU was at
// hand.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/kda_decode/shape.h"

namespace kernels::kda_decode {

// No driver, no GPU, or a call that failed: the program could not run.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string device_name();  // throws DeviceError where there is none

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

// What the CUDA versions of the ops throw; apart from CUDA's own headers, for callers without them.
#pragma once

#include <stdexcept>
#include <string>

namespace kernels {

// No driver, no GPU, or a call that failed: the program could not run.
struct DeviceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string device_name();  // throws DeviceError where there is none

}  // namespace kernels

#include "kernels/lab/device_memory.cuh"

namespace kernels {

std::string device_name() {
  int count = 0;
  require(cudaGetDeviceCount(&count), "look for a GPU");
  if (count == 0) throw DeviceError("CUDA: there is no GPU");
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, 0), "ask the GPU its name");
  return properties.name;
}

}  // namespace kernels

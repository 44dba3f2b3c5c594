// Memory and time of an NVIDIA GPU, for .cu files.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "kernels/lab/device_error.h"

namespace kernels {

inline void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    throw DeviceError(std::string("CUDA: ") + what + ": " + cudaGetErrorString(error));
  }
}

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    require(cudaMalloc(&data_, size * sizeof(T)), "allocate");
    require(cudaMemset(data_, 0, size * sizeof(T)), "clear");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  void set(const T* from) {
    require(cudaMemcpy(data_, from, size_ * sizeof(T), cudaMemcpyHostToDevice),
            "copy to the device");
  }
  void get(T* to) const {
    require(cudaMemcpy(to, data_, size_ * sizeof(T), cudaMemcpyDeviceToHost),
            "copy from the device");
  }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

class DeviceEvent {
 public:
  DeviceEvent() { require(cudaEventCreate(&event_), "make an event"); }
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
  ~DeviceEvent() { cudaEventDestroy(event_); }
  void record() { require(cudaEventRecord(event_), "record an event"); }
  float since_ms(const DeviceEvent& start) {
    require(cudaEventSynchronize(event_), "run the kernel");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, start.event_, event_), "read an event");
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace kernels

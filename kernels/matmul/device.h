// The W8A8 product on an NVIDIA GPU. Compiled, but never yet run: no machine with a GPU was at
// hand.
#pragma once

#include <memory>

#include "kernels/tensor.h"

namespace kernels::matmul {

// y[t, r] = scale_w[r] scale_x[t] sum_c w[r, c] x8[t, c]: as matmul.h's i8, with activations
// quantised on the device. Sums are exact, so that a token's result does not depend on the batch.
class DeviceProduct {
 public:
  // w.type is i8; room for `tokens`. Throws DeviceError where there is no GPU.
  DeviceProduct(const MatrixView& w, int tokens);
  ~DeviceProduct();
  DeviceProduct(const DeviceProduct&) = delete;
  DeviceProduct& operator=(const DeviceProduct&) = delete;

  void upload(const float* x);  // [tokens, cols]
  float launch_ms();            // quantises and multiplies; its time on the device
  void download(float* y);      // [tokens, rows]

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace kernels::matmul

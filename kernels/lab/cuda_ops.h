// The ops that have a CUDA version, as kernel_lab_cuda sees them.
#pragma once

#include <functional>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"

namespace kernels {

// As register_timed, by the time that `call` says it took on the device.
void register_device_timed(const std::string& name, Work work, std::function<float()> call_ms);

namespace attention {
Op cuda_op();
}
namespace matmul {
Op cuda_op();
}

}  // namespace kernels

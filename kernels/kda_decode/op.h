#pragma once

#include "kernels/lab/op.h"

namespace kernels::kda_decode {

Op cpu_op();
Op cuda_op();  // in kernel_lab_cuda only

}  // namespace kernels::kda_decode

#pragma once

#include "kernels/lab/op.h"

namespace kernels::kda_decode {

Op cpu_op();

}  // namespace kernels::kda_decode

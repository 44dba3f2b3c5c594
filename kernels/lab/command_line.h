// The command line that kernel_lab and kernel_lab_cuda share.
#pragma once

#include <span>

#include "kernels/lab/op.h"

namespace kernels {

// kernel_lab check|bench OP [options]; gives an exit code of op.h.
int run_lab(std::span<const Op> ops, int argc, char** argv);

}  // namespace kernels

// kernel_lab_cuda check|bench OP: kernel_lab on a GPU; exits with 2 where there is none.
#include <array>

#include "kernels/kda_decode/op.h"
#include "kernels/lab/command_line.h"
#include "kernels/lab/cuda_ops.h"

int main(int argc, char** argv) {
  const std::array ops = {kernels::kda_decode::cuda_op(), kernels::attention::cuda_op(),
                          kernels::matmul::cuda_op()};
  return kernels::run_lab(ops, argc, argv);
}

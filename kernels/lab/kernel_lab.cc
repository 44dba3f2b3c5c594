// kernel_lab check|bench OP: one program for all ops, see kernels/README.md.
#include <array>

#include "kernels/kda_decode/op.h"
#include "kernels/lab/command_line.h"

int main(int argc, char** argv) {
  const std::array ops = {kernels::kda_decode::cpu_op()};
  return kernels::run_lab(ops, argc, argv);
}

// kernel_lab with kda_decode alone, for nights on it: it builds in a fraction of the time.
#include "kernels/kda_decode/op.h"
#include "kernels/lab/command_line.h"

int main(int argc, char** argv) {
  const kernels::Op op = kernels::kda_decode::cpu_op();
  return kernels::run_lab({&op, 1}, argc, argv);
}

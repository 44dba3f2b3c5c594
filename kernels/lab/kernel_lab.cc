// kernel_lab check|bench OP: one program for all ops, see kernels/README.md.
#include <vector>

#include "kernels/kda_decode/op.h"
#include "kernels/lab/command_line.h"
#include "kernels/lab/engine_ops.h"

int main(int argc, char** argv) {
  std::vector<kernels::Op> ops = {kernels::kda_decode::cpu_op()};
  for (const kernels::EngineOp& op : kernels::engine_ops()) ops.push_back(kernels::lab_op(op));
  return kernels::run_lab(ops, argc, argv);
}

#include "kernels/lab/engine_ops.h"

#include <cstdio>

namespace kernels {

const std::vector<EngineOp>& engine_ops() {
  static const std::vector<EngineOp> kOps = {kAttention, kCache,   kElementwise, kKda,
                                             kMatmul,    kMla,     kNorm,        kQuantize,
                                             kRope,      kRouting, kSampling,    kShortConv};
  return kOps;
}

Op lab_op(const EngineOp& op) {
  const auto run = [op](const LabOptions& options) {
    Check check(op.name, options.seed);
    op.check(check);
    std::fputs(check.report().c_str(), stdout);
    return check.ok() ? kPassed : kFailed;
  };
  return {op.name, run, op.bench};
}

}  // namespace kernels

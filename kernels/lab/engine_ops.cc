#include "kernels/lab/engine_ops.h"

#include <cstdio>

namespace kernels {

const std::vector<EngineOp>& engine_ops() {
  static const std::vector<EngineOp> kOps = {
      {"attention", attention::check, attention::bench},
      {"cache", cache::check, cache::bench},
      {"elementwise", elementwise::check, elementwise::bench},
      {"kda", kda::check, kda::bench},
      {"matmul", matmul::check, matmul::bench},
      {"mla", mla::check, mla::bench},
      {"norm", norm::check, norm::bench},
      {"quantize", quantize::check, quantize::bench},
      {"rope", rope::check, rope::bench},
      {"routing", routing::check, routing::bench},
      {"sampling", sampling::check, sampling::bench},
      {"short_conv", short_conv::check, short_conv::bench},
  };
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

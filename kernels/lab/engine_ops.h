// The ops of an engine as kernel_lab sees them; each folder's check.cc has the op's oracle, check
// and benchmark.
#pragma once

#include <vector>

#include "kernels/lab/check.h"
#include "kernels/lab/op.h"

namespace kernels {

struct EngineOp {
  const char* name;
  void (*check)(Check&);
  void (*bench)(const LabOptions&);
};

extern const EngineOp kAttention, kCache, kElementwise, kKda, kMatmul, kMla, kNorm, kQuantize,
    kRope, kRouting, kSampling, kShortConv;

const std::vector<EngineOp>& engine_ops();  // all of them, by name

// As an Op: runs the check, prints its report.
Op lab_op(const EngineOp& op);

}  // namespace kernels

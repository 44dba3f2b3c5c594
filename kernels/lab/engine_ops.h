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

const std::vector<EngineOp>& engine_ops();

// As an Op: runs the check, prints its report.
Op lab_op(const EngineOp& op);

namespace attention {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace attention
namespace cache {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace cache
namespace elementwise {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace elementwise
namespace kda {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace kda
namespace matmul {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace matmul
namespace mla {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace mla
namespace norm {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace norm
namespace quantize {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace quantize
namespace rope {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace rope
namespace routing {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace routing
namespace sampling {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace sampling
namespace short_conv {
void check(Check& check);
void bench(const LabOptions& options);
}  // namespace short_conv

}  // namespace kernels

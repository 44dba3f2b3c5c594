// The check's result as JSON lines on stdout.
#pragma once

#include <string>
#include <vector>

#include "kernels/kda_decode/check.h"

namespace kernels::kda_decode {

// What was checked, for the detail of the report.
struct Checked {
  int variant;
  int v_tile;
  int ring;
  std::uint64_t seed;
};

// `{"metric":...}` lines per form of the gate, then one `{"check":...}` line. A value that is not
// finite is written as null.
std::string report(const std::vector<CaseResult>& results, const Checked& checked);

}  // namespace kernels::kda_decode

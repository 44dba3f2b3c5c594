// v2: v1 with x * rsqrt(s) in place of x / sqrt(s).
#include "kernels/kda_decode/redundant.h"

namespace kernels::kda_decode {

const Variant kReplayRsqrt = redundant_variant<Norm::rsqrt>("v1 without divisions");

}  // namespace kernels::kda_decode

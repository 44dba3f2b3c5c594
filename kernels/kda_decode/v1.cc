// v1: ReplaySSM as first written. The kernel is cut along V into V / v_tile programs, as a grid of
// GPU blocks would be, and each program repeats what does not depend on V. `Norm` is all that v2
// changes.
#include "kernels/kda_decode/redundant.h"

namespace kernels::kda_decode {

const Variant kReplay = redundant_variant<Norm::divide>("ReplaySSM, norm and gate in every V tile");

}  // namespace kernels::kda_decode

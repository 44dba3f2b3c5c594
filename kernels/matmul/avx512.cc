// AVX-512 floats; int8 is AVX2's without VNNI.
#include "kernels/matmul/float_tile.h"

namespace kernels::matmul {

static_assert(kTileLanes == 16, "Highway took the compiler's flags for a lesser machine");

const TileKernels kAvx512 = {
    float_kernel<F32Weights>(), float_kernel<F16Weights>(), float_kernel<Bf16Weights>(), {}, {}};

}  // namespace kernels::matmul

// AVX-512 VNNI for int8.
#include "kernels/matmul/vnni_tile.h"

namespace kernels::matmul {

const TileKernels kVnni = {{},
                           {},
                           {},
                           {kVnniTokens, kVnniPanels, run_vnni<Int8::q8_0>},
                           {kVnniTokens, kVnniPanels, run_vnni<Int8::i8>}};

}  // namespace kernels::matmul

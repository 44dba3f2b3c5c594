// The only source that sees the knobs: a changed knob recompiles this file and relinks.
#include "kernels/kda_decode/knobs.h"  // generated from kernels/knobs.yaml
#include "kernels/kda_decode/variants.h"

namespace kernels::kda_decode {

static_assert(is_variant(knobs::variant),
              "kernels/knobs.yaml: kda_decode.variant must be 0, 1, 2 or 3");
static_assert(is_v_tile(knobs::v_tile),
              "kernels/knobs.yaml: kda_decode.v_tile must divide V = 128: 16, 32, 64 or 128");
static_assert(is_ring(knobs::ring), "kernels/knobs.yaml: kda_decode.ring must be 1 to 64");

Selection selection() { return {knobs::variant, knobs::v_tile, knobs::ring}; }

}  // namespace kernels::kda_decode

#include "kernels/kda_decode/variants.h"

#include <stdexcept>
#include <string>

namespace kernels::kda_decode {

const Variant& variant(int number) {
  static const Variant* const kAll[kVariants] = {&kPlain, &kReplay, &kReplayRsqrt, &kReplayMerged};
  if (!is_variant(number)) {
    throw std::invalid_argument("kda_decode: variant must be 0 to 3, found " +
                                std::to_string(number));
  }
  return *kAll[number];
}

}  // namespace kernels::kda_decode

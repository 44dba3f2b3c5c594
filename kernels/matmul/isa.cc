#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <array>
#include <stdexcept>
#include <string>

#include "kernels/matmul/matmul.h"

namespace kernels::matmul {
namespace {

constexpr std::array kAll = {Isa::generic, Isa::avx2, Isa::avx512, Isa::vnni, Isa::amx};

#ifdef __x86_64__
bool cpu_has_amx() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return false;
  constexpr unsigned kBf16 = 1u << 22, kTile = 1u << 24, kInt8 = 1u << 25;
  return (edx & kBf16) && (edx & kTile) && (edx & kInt8);
}

// Linux hands out the tile registers only to a process that asks, once.
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileContents = 18;           // XFEATURE_XTILEDATA
  static const bool kGranted =
      cpu_has_amx() && syscall(SYS_arch_prctl, kRequestPermission, kTileContents) == 0;
  return kGranted;
}
#endif

}  // namespace

#ifdef __x86_64__
bool supports(Isa isa) {
  __builtin_cpu_init();
  switch (isa) {
    case Isa::generic:
      return true;
    case Isa::avx2:
      // F16C is older than AVX2, and clang cannot ask for it.
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case Isa::avx512:
      return supports(Isa::avx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case Isa::vnni:
      return supports(Isa::avx512) && __builtin_cpu_supports("avx512vnni");
    case Isa::amx:
      return supports(Isa::vnni) && may_use_tiles();
  }
  return false;
}
#else
bool supports(Isa isa) { return isa == Isa::generic; }
#endif

const char* name(Isa isa) {
  constexpr std::array kNames = {"generic", "avx2", "avx512", "vnni", "amx"};
  return kNames[std::size_t(isa)];
}

Isa choose_isa(const char* wanted) {
  if (!wanted || !*wanted) {
    Isa best = Isa::generic;
    for (Isa isa : kAll) best = supports(isa) ? isa : best;
    return best;
  }
  for (Isa isa : kAll) {
    if (std::string(name(isa)) != wanted) continue;
    if (supports(isa)) return isa;
    throw std::invalid_argument(std::string("NIGHTSHIFT_ISA=") + wanted +
                                ": this machine lacks it; leave it out to take the best there is");
  }
  throw std::invalid_argument(std::string("NIGHTSHIFT_ISA must be generic, avx2, avx512, vnni or "
                                          "amx, found '") +
                              wanted + "'");
}

}  // namespace kernels::matmul

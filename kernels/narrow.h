// Vectors between fp32 and the narrower types of files and caches; rounding is to nearest even.
#pragma once

#include "kernels/simd.h"

namespace kernels {

static_assert(
    !HWY_ARCH_X86 || HWY_TARGET <= HWY_AVX2,
    "KERNELS_MARCH must have AVX2, F16C, AES and PCLMUL (native, skylake, znver2): without "
    "them Highway's conversion to f16 truncates and loses NaNs");

inline constexpr hn::Rebind<hwy::float16_t, decltype(kF)> kHalf{};
inline constexpr hn::Rebind<std::int8_t, decltype(kF)> kByte{};
inline constexpr hn::Rebind<std::int16_t, decltype(kF)> kShort{};
inline constexpr hn::Rebind<std::int32_t, decltype(kF)> kInt{};
inline constexpr hn::Rebind<std::uint32_t, decltype(kF)> kBits{};
inline constexpr hn::Rebind<std::uint16_t, decltype(kF)> kHalfBits{};

inline Vector load_f16(const std::uint16_t* p) {
  return hn::PromoteTo(kF, hn::LoadU(kHalf, reinterpret_cast<const hwy::float16_t*>(p)));
}
inline void store_f16(Vector v, std::uint16_t* p) {
  hn::StoreU(hn::DemoteTo(kHalf, v), kHalf, reinterpret_cast<hwy::float16_t*>(p));
}

inline Vector load_i8(const std::int8_t* p) {
  return hn::ConvertTo(kF, hn::PromoteTo(kInt, hn::LoadU(kByte, p)));
}
// Values within -127 .. 127.
inline void store_i8(Vector v, std::int8_t* p) {
  hn::StoreU(hn::DemoteTo(kByte, hn::DemoteTo(kShort, hn::NearestInt(v))), kByte, p);
}

inline Vector load_bf16(const std::uint16_t* p) {
  const auto bits = hn::PromoteTo(kBits, hn::LoadU(kHalfBits, p));
  return hn::BitCast(kF, hn::ShiftLeft<16>(bits));
}
// Adds half of the last kept bit's weight, less one where that bit is 0; a NaN stays one.
inline void store_bf16(Vector v, std::uint16_t* p) {
  const auto bits = hn::BitCast(kBits, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(kBits, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(kBits, 0x7fff))));
  const auto quiet = hn::Set(kBits, 0x7fc0);
  const auto is_nan = hn::RebindMask(kBits, hn::IsNaN(v));
  const auto kept = hn::BitCast(kInt, hn::IfThenElse(is_nan, quiet, rounded));
  hn::StoreU(hn::DemoteTo(kHalfBits, kept), kHalfBits, p);
}

}  // namespace kernels

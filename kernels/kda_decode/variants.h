// The numbered variants of KDA decode. Every one reads the same Step, keeps the same Cache and
// gives the same o, so that they can be compared and exchanged freely.
#pragma once

#include "kernels/kda_decode/counters.h"
#include "kernels/kda_decode/shape.h"

namespace kernels::kda_decode {

// Advances all slots by one token; `o` is [batch, value_heads, V].
struct Variant {
  const char* what;
  void (*step)(const Step&, const Gate&, Cache&, int v_tile, float* o);
  void (*counted)(const Step&, const Gate&, Cache&, int v_tile, float* o, Counters&);
};

extern const Variant kPlain;         // v0: the state is read and written each token
extern const Variant kReplay;        // v1: ReplaySSM, V tiles as independent programs
extern const Variant kReplayRsqrt;   // v2: v1 without divisions in the normalisation
extern const Variant kReplayMerged;  // v3: v2 with norm, gate and replay weights once a head

inline constexpr int kVariants = 4;
const Variant& variant(int number);  // 0 .. kVariants - 1; throws std::invalid_argument

// The tile actually used at a place where `left` values remain: halved until it fits, so that a V
// which is no multiple of the tile ends in smaller tiles.
inline int tile_width(int v_tile, int left) {
  while (v_tile > left) v_tile /= 2;
  return v_tile;
}

// What kernels/knobs.yaml selects.
struct Selection {
  int variant;
  int v_tile;
  int ring;
};
Selection selection();

constexpr bool is_variant(int n) { return n >= 0 && n < kVariants; }
constexpr bool is_v_tile(int n) { return n == 16 || n == 32 || n == 64 || n == 128; }
constexpr bool is_ring(int n) { return n >= 1 && n <= kMaxRing; }

}  // namespace kernels::kda_decode

// Exact counts of what a step executed. The kernels take a Count by value and call it where the
// work is done; NoCount is empty, so the timed path holds no trace of it.
#pragma once

#include <cstdint>

namespace kernels::kda_decode {

struct Counters {
  std::uint64_t norms = 0;  // L2 normalisations of one vector (q and k are two)
  std::uint64_t gates = 0;  // gate evaluations of one head's K values
  std::uint64_t exps = 0;   // scalar exp results, whatever the vector width
  std::uint64_t bytes =
      0;  // tensor bytes loaded and stored, from whichever cache; scratch is not one

  bool operator==(const Counters&) const = default;
};

struct NoCount {
  void norm() const {}
  void gate() const {}
  void exps(int) const {}
  void floats(int) const {}
};

struct Counting {
  Counters* counters;
  void norm() const { ++counters->norms; }
  void gate() const { ++counters->gates; }
  void exps(int n) const { counters->exps += static_cast<std::uint64_t>(n); }
  void floats(int n) const { counters->bytes += sizeof(float) * static_cast<std::uint64_t>(n); }
};

}  // namespace kernels::kda_decode

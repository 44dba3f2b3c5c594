// What the checks of the ops share: fresh inputs by seed, comparison with an oracle, one report.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "kernels/kda_decode/compare.h"
#include "kernels/kda_decode/inputs.h"
#include "kernels/tensor.h"

namespace kernels {

using kda_decode::Floats;  // starts at a cache line
using kda_decode::Random;

// Relative to the rms of what the oracle says.
struct Tolerance {
  double rms = 1e-5;
  double max = 1e-4;  // of a single value
};

// Collects what went wrong first and how far everything was from the oracle.
class Check {
 public:
  Check(std::string op, std::uint64_t seed) : random(seed), op_(std::move(op)), seed_(seed) {}

  // Compares a result with the oracle's. A value that is not finite fails.
  void near(const std::string& where, std::span<const float> got, std::span<const double> want,
            Tolerance tolerance = {});
  // Compares two results that must not differ in a bit.
  void same(const std::string& where, std::span<const float> got, std::span<const float> want);
  // Anything else that must hold.
  void holds(const std::string& where, bool condition);

  bool ok() const { return first_mismatch_.empty(); }
  const std::string& first_mismatch() const { return first_mismatch_; }  // as JSON; empty: none
  std::string report() const;                                            // JSON lines

  Random random;

 private:
  void fail(const std::string& where, std::size_t at, double got, double want);

  std::string op_;
  std::uint64_t seed_;
  std::string first_mismatch_;
  double rms_ = 0, max_ = 0;
  int cases_ = 0, failed_ = 0;
};

Floats normals(Random& random, std::size_t size, float scale = 1);

// An output before it is written: a value that nobody computed must fail.
Floats poison(std::size_t size);

inline std::vector<double> doubles(std::span<const float> x) { return {x.begin(), x.end()}; }

using Bytes = std::vector<std::byte, kda_decode::LineAllocator<std::byte>>;
Bytes poisoned_bytes(std::size_t size);  // NaNs in every float type

}  // namespace kernels

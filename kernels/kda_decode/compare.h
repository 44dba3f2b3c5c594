// How far a result is from the oracle, so that a NaN can never pass.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace kernels::kda_decode {

struct Difference {
  double rms = 0;         // sqrt(sum error^2 / sum want^2)
  double max = 0;         // largest error / rms of want
  std::size_t worst = 0;  // where it is; the first value that is not finite, if there is one
};

// fp32 against fp64: a step that rounds as it should stays an order of magnitude below.
inline constexpr double kTolerance = 1e-5;
inline constexpr double kMaxTolerance = 1e-4;  // of a single value, relative to the rms

Difference compare(std::span<const float> got, std::span<const double> want);
Difference compare(std::span<const double> got, std::span<const double> want);

// Written with <=, so that a NaN fails.
inline bool within(const Difference& d) { return d.rms <= kTolerance && d.max <= kMaxTolerance; }

// A maximum that a NaN wins.
inline double worse(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

// Least-squares slope of a series over its index: the error gained per step.
double slope(std::span<const double> series);

}  // namespace kernels::kda_decode

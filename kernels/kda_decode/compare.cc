#include "kernels/kda_decode/compare.h"

#include <cmath>
#include <limits>

namespace kernels::kda_decode {
namespace {

template <class T>
Difference measure(std::span<const T> got, std::span<const double> want) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (got.size() != want.size() || want.empty()) return {kNaN, kNaN, 0};
  double errors = 0;
  double wants = 0;
  double largest = -1;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double error = std::fabs(double(got[i]) - want[i]);
    if (!std::isfinite(error)) return {kNaN, kNaN, i};
    errors += error * error;
    wants += want[i] * want[i];
    if (error > largest) {
      largest = error;
      worst = i;
    }
  }
  if (errors == 0) return {0, 0, worst};
  // Wants that are all zero, and errors that are not, give infinity: a failure, as it should be.
  return {std::sqrt(errors / wants), largest / std::sqrt(wants / double(want.size())), worst};
}

}  // namespace

Difference compare(std::span<const float> got, std::span<const double> want) {
  return measure(got, want);
}
Difference compare(std::span<const double> got, std::span<const double> want) {
  return measure(got, want);
}

double slope(std::span<const double> series) {
  const double n = double(series.size());
  if (n < 2) return 0;
  double mean = 0;
  for (double y : series) mean += y / n;
  double above = 0;
  double below = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double x = double(i) - (n - 1) / 2;
    above += x * (series[i] - mean);
    below += x * x;
  }
  return above / below;
}

}  // namespace kernels::kda_decode

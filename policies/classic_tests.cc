#include "policies/classic_tests.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "policies/robust.h"

namespace policies {
namespace {

struct Moments {
  double n = 0, mean = 0, variance = 0;
};

Moments moments_of(const std::vector<double>& x) {
  Moments m;
  m.n = static_cast<double>(x.size());
  for (double value : x) m.mean += value / m.n;
  for (double value : x) m.variance += (value - m.mean) * (value - m.mean) / (m.n - 1);
  return m;
}

double two_sided_t(double difference, double error, double freedom) {
  if (!(error > 0)) return difference == 0 ? 1 : 0;
  const boost::math::students_t_distribution<> t(freedom);
  return 2 * cdf(complement(t, std::fabs(difference / error)));
}

double two_sided_z(double distance, double variance) {
  if (!(variance > 0)) return 1;
  constexpr double kContinuity = 0.5;
  const double z = std::max(0.0, std::fabs(distance) - kContinuity) / std::sqrt(variance);
  return 2 * cdf(complement(boost::math::normal_distribution<>(), z));
}

}  // namespace

double paired_t_test(const std::vector<double>& differences) {
  if (differences.size() < 2) return 1;
  const Moments m = moments_of(differences);
  return two_sided_t(m.mean, std::sqrt(m.variance / m.n), m.n - 1);
}

double welch_t_test(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2 || b.size() < 2) return 1;
  const Moments x = moments_of(a), y = moments_of(b);
  const double of_x = x.variance / x.n, of_y = y.variance / y.n;
  const double both = of_x + of_y;
  const double freedom =
      both * both / (of_x * of_x / (x.n - 1) + of_y * of_y / (y.n - 1));  // Satterthwaite
  return two_sided_t(x.mean - y.mean, std::sqrt(both), both > 0 ? freedom : 1);
}

double signed_rank_test(const std::vector<double>& differences) {
  std::vector<double> sizes, signs;
  for (double difference : differences) {
    if (difference == 0) continue;
    sizes.push_back(std::fabs(difference));
    signs.push_back(difference > 0 ? 1 : 0);
  }
  if (sizes.size() < 2) return 1;
  const Ranks ranks = ranks_of(sizes);
  double positive = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) positive += signs[i] * ranks.of[i];
  const double n = static_cast<double>(sizes.size());
  const double variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.tie_term / 48;
  return two_sided_z(positive - n * (n + 1) / 4, variance);
}

double mann_whitney_test(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty() || a.size() + b.size() < 3) return 1;
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const Ranks ranks = ranks_of(all);
  double of_a = 0;
  for (std::size_t i = 0; i < a.size(); ++i) of_a += ranks.of[i];
  const double m = static_cast<double>(a.size()), n = static_cast<double>(b.size());
  const double u = of_a - m * (m + 1) / 2;
  const double variance = m * n / 12 * (m + n + 1 - ranks.tie_term / ((m + n) * (m + n - 1)));
  return two_sided_z(u - m * n / 2, variance);
}

}  // namespace policies

#include "policies/bench/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace policies::bench {
namespace {

double two_sided(double z) { return std::erfc(std::fabs(z) / std::numbers::sqrt2); }
double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Ranks from 1, ties share their mean; the sum of t^3 - t over ties.
struct Ranked {
  std::vector<double> ranks;  // in the order given
  double ties = 0;
};

Ranked ranked(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Ranked made;
  made.ranks.resize(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double count = static_cast<double>(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      made.ranks[order[i]] = (static_cast<double>(begin + end) + 1) / 2;
    }
    made.ties += count * count * count - count;
    begin = end;
  }
  return made;
}

double p_of(double statistic, double mean, double variance) {
  if (!(variance > 0)) return 1;
  const double distance = std::max(0.0, std::fabs(statistic - mean) - 0.5);
  return two_sided(distance / std::sqrt(variance));
}

}  // namespace

double mann_whitney_p(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const Ranked made = ranked(all);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += made.ranks[i];
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), both = n + m;
  const double u = sum - n * (n + 1) / 2;
  const double variance = n * m / 12 * (both + 1 - made.ties / (both * (both - 1)));
  return p_of(u, n * m / 2, variance);
}

double signed_rank_p(const std::vector<double>& differences) {
  std::vector<double> sizes, signs;
  for (double x : differences) {
    if (x == 0) continue;
    sizes.push_back(std::fabs(x));
    signs.push_back(x);
  }
  const Ranked made = ranked(sizes);
  double sum = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) sum += signs[i] > 0 ? made.ranks[i] : 0;
  const double n = static_cast<double>(sizes.size());
  return p_of(sum, n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24 - made.ties / 48);
}

double same_above_p(double magnitude, int n) {
  constexpr double kRange = 1.349;   // interquartile range of a unit normal
  constexpr double kMissed = 2.326;  // one in a hundred
  const double wins = normal_cdf(magnitude * kRange / std::numbers::sqrt2);
  const double count = n;
  const double mean = (wins - 0.5) * std::sqrt(12 * count * count / (2 * count + 1));
  return mean <= kMissed ? 1 : two_sided(mean - kMissed);
}

}  // namespace policies::bench

#include "policies/evidence.h"

#include <algorithm>
#include <boost/math/special_functions/zeta.hpp>
#include <cmath>
#include <utility>

#include "policies/robust.h"
#include "policies/symmetry.h"

namespace policies {
namespace {

// What pairs show: their oriented log-ratios and the values behind those.
struct Counted {
  std::vector<double> log_ratios, base, candidate;
};

Counted count(const std::vector<PairValues>& pairs, hypotheses::Better better) {
  Counted counted;
  for (const PairValues& pair : pairs) {
    if (const auto log_ratio = oriented_log_ratio(pair, better)) {
      counted.log_ratios.push_back(*log_ratio);
      counted.base.push_back(pair.base);
      counted.candidate.push_back(pair.candidate);
    }
  }
  return counted;
}

bool agree(const std::vector<double>& x) {
  if (x.empty()) return false;
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  return *most - *least <= kExactTolerance;
}

double capped_e(double log_e) { return std::min(std::exp(log_e), kLargestE); }

// All pairs of a noise-free counter agree: the effect is known.
void weigh_exact(const std::vector<double>& x, hypotheses::Evidence& evidence) {
  const double effect = median(x);
  evidence.effect = evidence.low = evidence.high = effect;
  evidence.e_better = effect > kExactTolerance ? kLargestE : 1;
  evidence.e_worse = effect < -kExactTolerance ? kLargestE : 1;
}

void weigh_noisy(const std::vector<double>& x, double alpha, double scale,
                 hypotheses::Evidence& evidence) {
  const Bets bets = bets_for(scale);
  const Interval interval = confidence_interval(x, alpha, bets, kUnbounded);
  std::vector<double> reversed = x;
  for (double& value : reversed) value = -value;
  evidence.low = interval.low;
  evidence.high = interval.high;
  if (evidence.low > evidence.high) std::swap(evidence.low, evidence.high);  // only within 1e-7
  evidence.effect = std::clamp(hodges_lehmann(x), evidence.low, evidence.high);
  evidence.e_better = capped_e(log_e_above(x, 0, bets));
  evidence.e_worse = capped_e(log_e_above(reversed, 0, bets));
}

}  // namespace

std::optional<double> oriented_log_ratio(const PairValues& pair, hypotheses::Better better) {
  if (!std::isfinite(pair.base) || !std::isfinite(pair.candidate)) return {};
  if (pair.base == 0 && pair.candidate == 0) return 0;
  if (pair.base <= 0 || pair.candidate <= 0) return {};
  const double log_ratio = std::log(pair.candidate) - std::log(pair.base);
  return better == hypotheses::Better::lower ? -log_ratio : log_ratio;
}

hypotheses::Evidence weigh(const std::vector<PairValues>& pairs, const hypotheses::MetricKey& key,
                           const hypotheses::Metric& metric, double alpha, double scale,
                           double implausible_ratio, const MachineLimits& machine) {
  const Counted counted = count(pairs, metric.better);
  hypotheses::Evidence evidence;
  evidence.key = key;
  evidence.better = metric.better;
  evidence.unit = metric.unit;
  evidence.pairs = static_cast<int>(counted.log_ratios.size());
  evidence.noise = noise_of(counted.log_ratios);
  evidence.base_value = median(counted.base);
  evidence.candidate_value = median(counted.candidate);
  const bool known_noisy = scale > kExactTolerance;
  if (metric.exact && !known_noisy && agree(counted.log_ratios)) {
    weigh_exact(counted.log_ratios, evidence);
  } else {
    weigh_noisy(counted.log_ratios, std::clamp(alpha, 1e-12, 1.0), scale, evidence);
  }
  evidence.flag = flag_of(evidence, metric, implausible_ratio, machine);
  return evidence;
}

double noise_of(const std::vector<double>& log_ratios) {
  if (log_ratios.size() < 2) return 0;
  const double n = static_cast<double>(log_ratios.size());
  double mean = 0, squares = 0;
  for (double x : log_ratios) mean += x / n;
  for (double x : log_ratios) squares += (x - mean) * (x - mean);
  return std::max(robust_spread(log_ratios), 0.1 * std::sqrt(squares / (n - 1)));
}

double merge_level(double fdr, int t, int confirmed) {
  // gamma_t = t^-1.5 / zeta(1.5) sums to 1; it falls slowly, so that the twentieth confirmation
  // needs only some five pairs more than the first.
  static const double kSum = boost::math::zeta(1.5);
  const double gamma = std::pow(std::max(t, 1), -1.5) / kSum;
  return std::min(1.0, fdr * gamma * (std::max(confirmed, 0) + 1));
}

}  // namespace policies

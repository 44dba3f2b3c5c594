#include "policies/symmetry.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace policies {
namespace {

// Chosen by simulation (docs/statistics.md).
constexpr double kLambdasPerScale[] = {0.3, 0.8, 2, 6};
// For unknown noise: powers of 3.
constexpr double kSmallestLambda = 1;
constexpr int kWideLambdas = 8;

constexpr double kTolerance = 1e-7;

// tanh, from one exponential.
double bet_on(double y) {
  const double decay = std::exp(-2 * std::fabs(y));
  return std::copysign((1 - decay) / (1 + decay), y);
}

// Wealth of each stake at one lambda, as logs. Products of 128 factors stay within a double, since
// each is between 1 - 0.98 and 1 + 0.98; so one logarithm pays for 128 pairs.
struct LogWealth {
  double of_stake[std::size(kStakes)] = {};
};

LogWealth log_wealth(const std::vector<double>& x, double theta, double lambda) {
  constexpr std::size_t kBlock = 128;
  LogWealth wealth;
  for (std::size_t begin = 0; begin < x.size(); begin += kBlock) {
    const std::size_t end = std::min(x.size(), begin + kBlock);
    double product[std::size(kStakes)];
    std::fill(std::begin(product), std::end(product), 1.0);
    for (std::size_t i = begin; i < end; ++i) {
      const double bet = bet_on(lambda * (x[i] - theta));
      for (std::size_t k = 0; k < std::size(kStakes); ++k) product[k] *= 1 + kStakes[k] * bet;
    }
    for (std::size_t k = 0; k < std::size(kStakes); ++k) wealth.of_stake[k] += std::log(product[k]);
  }
  return wealth;
}

// The largest theta that is rejected, or `least_bound` when none above that is.
double lower_bound(const std::vector<double>& x, double log_threshold, const Bets& bets,
                   double least_bound) {
  if (x.empty()) return least_bound;
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  const double smallest_lambda = *std::min_element(bets.lambdas.begin(), bets.lambdas.end());
  const auto excess = [&](double theta) { return log_e_above(x, theta, bets) - log_threshold; };
  // So far below all data every bet is won in full; at the greatest datum none is won.
  double low = std::max(least_bound, *least - 20 / smallest_lambda);
  double high = *most;
  if (low >= high) return least_bound;
  const double at_low = excess(low);
  const double at_high = excess(high);
  if (at_low < 0) return least_bound;
  std::uintmax_t iterations = 100;
  const auto close_enough = [](double a, double b) { return b - a < kTolerance; };
  const auto bracket = boost::math::tools::toms748_solve(excess, low, high, at_low, at_high,
                                                         close_enough, iterations);
  return bracket.first;
}

std::vector<double> negated(std::vector<double> x) {
  for (double& value : x) value = -value;
  return x;
}

}  // namespace

Bets bets_for(double scale) {
  Bets bets;
  if (std::isfinite(scale) && scale > 0) {
    for (double lambda : kLambdasPerScale) bets.lambdas.push_back(lambda / scale);
  } else {
    double lambda = kSmallestLambda;
    for (int i = 0; i < kWideLambdas; ++i, lambda *= 3) bets.lambdas.push_back(lambda);
  }
  return bets;
}

double log_e_above(const std::vector<double>& x, double theta, const Bets& bets) {
  const double lambda_weight = 1.0 / static_cast<double>(bets.lambdas.size());
  double greatest = -INFINITY;
  double sum = 0;  // of exp(log - greatest)
  for (double lambda : bets.lambdas) {
    const LogWealth wealth = log_wealth(x, theta, lambda);
    for (std::size_t k = 0; k < std::size(kStakes); ++k) {
      const double log = wealth.of_stake[k] + std::log(lambda_weight * kStakeWeights[k]);
      if (log > greatest) {
        sum = sum * std::exp(greatest - log) + 1;
        greatest = log;
      } else {
        sum += std::exp(log - greatest);
      }
    }
  }
  return greatest + std::log(sum);
}

RunningE::RunningE(double theta, const Bets& bets) : theta_(theta), lambdas_(bets.lambdas) {
  for (std::size_t i = 0; i < lambdas_.size(); ++i) {
    for (double weight : kStakeWeights) {
      wealth_.push_back(weight / static_cast<double>(lambdas_.size()));
    }
  }
}

void RunningE::add(double x) {
  auto wealth = wealth_.begin();
  for (double lambda : lambdas_) {
    const double bet = bet_on(lambda * (x - theta_));
    for (double stake : kStakes) *wealth++ *= 1 + stake * bet;
  }
}

double RunningE::value() const { return std::accumulate(wealth_.begin(), wealth_.end(), 0.0); }

Interval confidence_interval(const std::vector<double>& x, double alpha, const Bets& bets,
                             double unbounded) {
  const double log_threshold = std::log(2 / alpha);
  return {lower_bound(x, log_threshold, bets, -unbounded),
          -lower_bound(negated(x), log_threshold, bets, -unbounded)};
}

}  // namespace policies

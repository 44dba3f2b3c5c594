// The symmetry e-process and its inversion to a confidence sequence (docs/statistics.md).
//
// If x is symmetric about a centre c <= theta, then E[tanh(lambda (x - theta))] <= 0, so every
// product of 1 + stake * tanh(lambda (x_i - theta)) with 0 < stake < 1 is a non-negative
// supermartingale that starts at 1, and so is a fixed mixture of them: an e-process against
// "centre <= theta". It falls as theta grows, so what it does not reject is an interval.
#pragma once

#include <vector>

namespace policies {

// The mixture is over all pairs of one of a few lambdas, weighted alike, and one of these stakes.
// The large stake decides clear effects in six pairs; the small one gets over outliers, each of
// which costs the large one a factor of 50.
inline constexpr double kStakes[] = {0.98, 0.7};
inline constexpr double kStakeWeights[] = {2.0 / 3, 1.0 / 3};

struct Bets {
  std::vector<double> lambdas;  // per unit of log-ratio
};

// Bets around a noise of s.d. `scale`, which must not come from the data that is bet on; 0 =
// unknown: a grid that is wide enough for noise from 0.02% to 50%.
Bets bets_for(double scale);

// log of the e-value of x against "centre <= theta". 0 for no data; finite for finite x and theta.
double log_e_above(const std::vector<double>& x, double theta, const Bets& bets);

// The same e-value pair by pair: the wealth of every bet at one theta, so that a look costs as much
// as the mixture has bets, however many pairs there are. Values as log_e_above gives them, but for
// underflow (a wealth below 1e-300 is 0) and overflow (infinity), neither of which can hide that a
// threshold was reached.
class RunningE {
 public:
  RunningE(double theta, const Bets& bets);
  void add(double x);
  double value() const;

 private:
  double theta_;
  std::vector<double> lambdas_;
  std::vector<double> wealth_;  // by lambda, then by stake; the mixture's weights are in it
};

struct Interval {
  double low = 0, high = 0;
};

// All theta that are not rejected at alpha / 2 on either side, rounded outward by at most 1e-7.
// What is not bounded yet is +-`unbounded`.
Interval confidence_interval(const std::vector<double>& x, double alpha, const Bets& bets,
                             double unbounded);

}  // namespace policies

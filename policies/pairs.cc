#include "policies/pairs.h"

#include <algorithm>
#include <cmath>

#include "policies/choice.h"
#include "policies/evidence.h"
#include "policies/symmetry.h"

namespace policies {
namespace {

// Mean of log(1 + stake tanh(lambda (distance + z))) over standard normal z, by the trapezoid rule.
double growth(double distance, double lambda, double stake) {
  constexpr double kStep = 0.2;
  double mean = 0, weights = 0;
  for (double z = -5; z <= 5; z += kStep) {
    const double weight = std::exp(-z * z / 2);
    mean += weight * std::log1p(stake * std::tanh(lambda * (distance + z)));
    weights += weight;
  }
  return mean / weights;
}

}  // namespace

double pairs_to_separate(double distance, double noise, double level) {
  const double in_noise = std::fabs(distance) / noise;
  double best = 0;
  for (double lambda : bets_for(1).lambdas) {
    for (double stake : kStakes) best = std::max(best, growth(in_noise, lambda, stake));
  }
  // log of the threshold, and what the mixture loses to its best part (fitted to simulation).
  constexpr double kMixtureLoss = 0.2;
  const double goal = std::log(2 / level) + kMixtureLoss;
  if (best * kPairsWithoutEnd <= goal) return kPairsWithoutEnd;
  return std::ceil(goal / best);
}

double pairs_to_settle(double effect, double noise, const EvidenceRule& rule, double level) {
  if (noise <= 0) return 1;
  if (level <= 0) level = rule.alpha;
  const double from_min_gain = std::log1p(rule.min_gain) - effect;
  return pairs_to_separate(std::max(effect, from_min_gain), noise, level);
}

double expected_pairs(double effect, double noise, double p_real, const EvidenceRule& rule,
                      double level) {
  if (noise <= 0) return 1;
  if (level <= 0) level = rule.alpha;
  const double cap = rule.max_pairs;
  const double with_effect = std::min(pairs_to_settle(effect, noise, rule, level), cap);
  // Without an effect it ends when the upper bound is below the minimum gain; where it is worth it
  // (worth_naming), when both bounds are inside +-no_difference; or at the cap.
  const double to_exclude = pairs_to_separate(std::log1p(rule.min_gain), noise, level);
  const double to_one_side = pairs_to_separate(std::log1p(rule.no_difference), noise, level);
  const double to_name = kPairsBothSides * to_one_side <= cap
                             ? std::min(kPairsBothSides, rule.naming_effort) * to_one_side
                             : 0;
  const double without_effect = std::min(std::max(to_exclude, to_name), cap);
  return p_real * with_effect + (1 - p_real) * without_effect;
}

double expected_guard_pairs(double margin, hypotheses::Better better, double noise,
                            const EvidenceRule& rule) {
  if (noise <= 0) return 1;
  return pairs_to_separate(worst_allowed(margin, better), noise, rule.alpha);
}

}  // namespace policies

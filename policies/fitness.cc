#include "policies/fitness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "policies/evidence.h"
#include "policies/pairs.h"
#include "policies/phrase.h"

namespace policies {
namespace {

// The smallest effect that so many pairs can tell from 0, by bisection; infinite for too few.
double smallest_effect(double noise, int pairs, double alpha) {
  double low = 0, high = 50 * noise;
  if (pairs_to_separate(high, noise, alpha) > pairs) return INFINITY;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (pairs_to_separate(middle, noise, alpha) > pairs ? low : high) = middle;
  }
  return high;
}

FitnessJudgement quarantine(const hypotheses::Evidence& evidence, std::string reason) {
  return {Fitness::quarantined, std::move(reason), evidence.noise, 0};
}

}  // namespace

FitnessJudgement judge_fitness(const hypotheses::Evidence& evidence, bool exact,
                               const EvidenceRule& rule, int affordable_pairs) {
  const std::string pairs_text =
      fmt::format("{} A/A {}", evidence.pairs, evidence.pairs == 1 ? "pair" : "pairs");
  if (evidence.pairs == 0) return quarantine(evidence, "no A/A pair gave two positive values");
  const bool repeats = exact && evidence.low == evidence.high;
  if (repeats && std::fabs(evidence.effect) <= kExactTolerance) {
    return {Fitness::fit, "an exact counter, and it repeats exactly over " + pairs_text, 0, 0};
  }
  const double e = std::max(evidence.e_better, evidence.e_worse);
  if (e >= 2 / rule.alpha && !(repeats && evidence.pairs == 1)) {
    return quarantine(evidence,
                      fmt::format("the same commit differs from itself on this machine: {} over {} "
                                  "(e = {:.0f})",
                                  effect_text(evidence), pairs_text, e));
  }
  // One pair of an exact counter that differs: its distance is all that is known of the noise.
  const double noise = std::max(evidence.noise, exact ? std::fabs(evidence.effect) : 0.0);
  if (noise > rule.max_noise) {
    return quarantine(evidence, fmt::format("noise {:.1f}% a pair over {}; the policy allows {}",
                                            100 * noise, pairs_text, percent_text(rule.max_noise)));
  }
  std::string reason = fmt::format("noise {:.1f}% a pair over {}", 100 * noise, pairs_text);
  if (exact) {
    reason += "; declared exact, but it differs between runs of one commit: judged as noise";
  }
  if (noise == 0) return {Fitness::fit, reason, 0, 0};
  const double smallest = smallest_effect(noise, affordable_pairs, rule.alpha);
  const double needed = pairs_to_separate(std::log1p(rule.min_gain), noise, rule.alpha);
  if (needed <= affordable_pairs) return {Fitness::fit, reason, noise, smallest};
  reason +=
      fmt::format("; {} needs {} pairs at {} noise; the cap is {}", percent_text(rule.min_gain),
                  count_text(needed), percent_text(noise), affordable_pairs);
  reason += std::isfinite(smallest) ? fmt::format(": only gains of {} or more can be told tonight",
                                                  percent_text(std::expm1(smallest)))
                                    : ": so few pairs tell nothing";
  return {Fitness::cannot_resolve, reason, noise, smallest};
}

}  // namespace policies

#include "policies/reach.h"

#include <algorithm>
#include <cmath>

namespace policies {

double diluted(double log_ratio, double share) {
  const double x = std::clamp(share, 0.0, 1.0);
  if (x == 1) return log_ratio;
  return std::log1p(x * std::expm1(log_ratio));
}

std::optional<double> needed_gain(double goal_gain, double share) {
  if (goal_gain <= 0) return 0;
  // log(1 - x + x e^d) = -goal, solved for d, in the sense of a time.
  const double left = (std::exp(-goal_gain) - 1 + share) / share;
  if (!(share > 0) || left <= 0) return {};
  return -std::log(left);
}

EvidenceRule rule_for_gain(const EvidenceRule& rule, double min_gain) {
  EvidenceRule changed = rule;
  changed.min_gain = min_gain;
  if (min_gain > rule.min_gain) changed.naming_effort = 0;
  return changed;
}

std::optional<EvidenceRule> rule_for_share(const EvidenceRule& rule, double share) {
  const auto needed =
      needed_gain(std::log1p(rule.min_gain), std::clamp(kShareDoubt * share, 0.0, 1.0));
  if (!needed) return {};
  return rule_for_gain(rule, std::max(rule.min_gain, std::expm1(*needed)));
}

}  // namespace policies

// Whether a goal is within reach of a change to a subject that accounts for a share of it (Amdahl
// 1967). A kernel at 3% of the time cannot gain 4% of it, whatever it gains itself: that is known
// without a run of the engine.
#pragma once

#include <optional>

#include "policies/policy.h"

namespace policies {

// Effect that is seen at a metric of which the subject is the share x of the time:
// log(1 - x + x e^d), d in the sense of a time (negative = better).
double diluted(double log_ratio, double share);

// By how much a share that was read from a trace may be too small: everything that is ruled out
// is ruled out for so many times the share.
inline constexpr double kShareDoubt = 1.5;

// Oriented gain (log-ratio) that a subject needs so that a metric of which it is `share` gains
// `goal_gain` (log-ratio); nothing when even a subject that takes no time would not do.
std::optional<double> needed_gain(double goal_gain, double share);

// The rule where a gain of `min_gain` (a fraction) is needed. What needs more than the policy asks
// for gets no better name than that it falls short.
EvidenceRule rule_for_gain(const EvidenceRule& rule, double min_gain);

// The rule for the own metric of a hypothesis that has to carry over to a goal of which its subject
// is `share`: the minimum gain is what the goal's minimum gain needs, if that is more. Nothing when
// the goal is out of reach. The share is given the benefit of kShareDoubt.
std::optional<EvidenceRule> rule_for_share(const EvidenceRule& rule, double share);

}  // namespace policies

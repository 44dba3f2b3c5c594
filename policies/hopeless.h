// When to give up on a gain that is not refuted yet. A merge needs evidence that holds however
// often one looks; giving up needs only that going on is not worth its price. So it may trust the
// noise that A/A pairs gave, which the e-process must not, and decides in two or three pairs what
// that takes ten for. It cannot make a false "supported", only a false refutation, and how often it
// does is counted (docs/statistics.md, "The labelled benchmark").
#pragma once

#include <optional>

#include "policies/evidence.h"

namespace policies {

// Refuted when the estimate plus kHopeless standard errors stays below the minimum gain: a gain of
// exactly the minimum looks so bad in one look of twenty. Inconclusive when, late, telling the
// estimate from the minimum gain would take far more pairs than the cap allows. `noise` is the s.d.
// of the paired log-ratio from A/A; 0 = unknown: never.
std::optional<Judgement> judge_hopeless(const hypotheses::Evidence& evidence, double noise,
                                        const EvidenceRule& rule);

inline constexpr double kHopeless = 1.6;

}  // namespace policies

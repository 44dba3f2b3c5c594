// When to give up on a gain that is not refuted yet. A merge needs evidence that holds however
// often one looks; giving up needs only that going on is not worth its price. So it may trust the
// noise that earlier pairs gave, which the e-process must not, and decides in two or three pairs
// what that takes ten for. It cannot make a false "supported", only a false refutation, and how
// often it does is counted (docs/statistics.md, "The labelled benchmark").
#pragma once

#include <optional>

#include "policies/evidence.h"

namespace policies {

// What going on costs, in machine-seconds.
struct PriceOfGoingOn {
  double pair_s = 0;   // one more pair
  double ample_s = 0;  // what may be spent on an answer that holds however often one looks
};

// Refuted when the estimate plus rule.give_up standard errors stays below the minimum gain: at 1.6
// a gain of exactly the minimum looks so bad in one look of twenty. Inconclusive when, late,
// telling the estimate from the minimum gain would take far more pairs than the cap allows. But
// what is cheap is finished: as long as the pairs that the interval still needs cost no more than
// `price.ample_s`, it goes on. `noise` is the s.d. of the paired log-ratio, from pairs other than
// these; 0 = unknown: never.
std::optional<Judgement> judge_hopeless(const hypotheses::Evidence& evidence, double noise,
                                        const EvidenceRule& rule, const PriceOfGoingOn& price);

}  // namespace policies

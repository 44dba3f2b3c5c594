// Is this machine fit to measure, and what can it tell? The A/A judgement of a night: the same
// commit on both sides, before anything is believed (DESIGN 6).
#pragma once

#include <string>

#include "hypotheses/types.h"
#include "policies/policy.h"

namespace policies {

enum class Fitness {
  fit,
  cannot_resolve,  // fit, but the smallest gain that the policy asks for drowns in the noise
  quarantined,     // nothing that it measures is to be believed
};

struct FitnessJudgement {
  Fitness fitness = Fitness::fit;
  std::string reason;   // with the numbers
  double noise = 0;     // to bet with: of an exact counter that repeats 0
  double smallest = 0;  // oriented log-ratio that `affordable_pairs` can tell from 0
};

// The rules, in this order:
//  1. quarantined: no pair came about; or the two sides differ (e-value at least 2 / alpha, so the
//     interval excludes 0): whatever the reason, it would count as an effect of a candidate;
//  2. quarantined: the noise is above the policy's max_noise;
//  3. an exact counter that repeats exactly is fit; one that does not is noise from here on, and
//     the reason says so;
//  4. cannot_resolve: telling the minimum gain from none takes more pairs than are affordable;
//  5. fit.
// `evidence` is weigh()'s of the A/A pairs; `affordable_pairs` is what one experiment may take: the
// cap, or less where the budget allows less.
FitnessJudgement judge_fitness(const hypotheses::Evidence& evidence, bool exact,
                               const EvidenceRule& rule, int affordable_pairs);

}  // namespace policies

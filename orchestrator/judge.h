// From the runs of an experiment to its answer, or to the next attempt.
#pragma once

#include <variant>
#include <vector>

#include "hypotheses/manifest.h"
#include "orchestrator/state.h"
#include "policies/evidence.h"
#include "policies/hopeless.h"

namespace orchestrator {

struct NextAttempt {
  std::vector<hypotheses::Side> sides;
};  // in launch order
using Outcome = std::variant<NextAttempt, hypotheses::Answer>;

// Everything the judgement of one experiment depends on besides its runs.
struct JudgeRule {
  policies::EvidenceRule evidence;
  double level = 0;          // a merge's confirmation level; 0 = exploration
  double guard_margin = 0;   // of a guard question
  double noise = 0;          // known beforehand, 0 = unknown
  bool is_noise = false;     // an A/A measurement
  int affordable_pairs = 0;  // that an experiment of this night may take; 0 = the cap
  policies::PriceOfGoingOn going_on;
  policies::MachineLimits machine;  // against which results are too good to be true
};

Outcome judge(const ExperimentRecord& record, const hypotheses::Manifest& manifest,
              const JudgeRule& rule);

// Base and candidate in the order that this pair's own coin says.
std::vector<hypotheses::Side> coin_order(std::uint64_t seed, int attempt);

// How many pairs that something disturbed are set aside and repeated, at most: an eighth of the
// cap. Beyond that the machine is simply so, and what disturbs it is its noise; none of an A/A
// measurement, which is to show the machine as it is. Whether a pair is set aside depends on the
// machine alone and treats both sides alike, so it does not touch the coin on which the evidence
// rests.
int most_set_aside(const hypotheses::Experiment& experiment);

// The pairs in which both sides ran well and that are not set aside, with what they measured of the
// experiment's key.
std::vector<policies::PairValues> good_pairs(const ExperimentRecord& record);

}  // namespace orchestrator

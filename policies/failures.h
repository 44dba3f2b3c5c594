// Attempts that gave no pair because a side failed. They are not missing at random: a candidate
// that crashes in one run of ten must not win on the other nine.
//
// The sign of an attempt in which exactly one side failed is a fair coin when both sides fail
// equally often, whatever the rate and however it drifts (attempts in which both failed say nothing
// about the candidate). So the bets of symmetry.h on these signs are an e-process: rule 3 below
// holds at most alpha of flaky probes against the candidate (Ville), rule 2 at most 1/16, and that
// only where every second run fails.
#pragma once

#include <optional>
#include <string>

#include "policies/evidence.h"

namespace policies {

// Attempts of an experiment by what came of them; lost ones are in none.
struct Attempts {
  int both_ran = 0;          // also when both say 0, a tie
  int base_failed = 0;       // alone
  int candidate_failed = 0;  // alone
  int both_failed = 0;

  int all() const { return both_ran + base_failed + candidate_failed + both_failed; }
};

// e-value against "the candidate fails no more often than the base".
double failure_e_value(const Attempts& attempts);

// The rules, in this order; nothing when failures decide nothing:
//  1. invalid: the base failed twice or more, and in more than a tenth of the attempts: the probe
//     cannot be relied upon here;
//  2. refuted: the candidate failed alone in all attempts, two or more: it does not run;
//  3. refuted: the e-value reaches 1 / alpha (five alone against none of the base).
std::optional<Judgement> judge_failures(const Attempts& attempts, double alpha);

// Why a gain that was shown is not "supported" although no rule above holds: two failures of the
// candidate alone more than of the base alone; of a merge, which is to be landed, already one.
// While hypotheses are explored it has to wait (until rule 3, or the cap); a merge is inconclusive
// at once. Empty = nothing is in the way.
std::string failures_in_the_way(const Attempts& attempts, bool is_merge);

// "1 of 9 attempts failed on the candidate alone"; empty when none did.
std::string failures_text(const Attempts& attempts);

}  // namespace policies

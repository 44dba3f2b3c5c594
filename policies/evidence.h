// What paired, interleaved measurements show, and when that is enough to answer
// (docs/statistics.md).
//
// A pair is base and candidate back to back, in an order drawn by a coin of its own. Under "no
// difference" its log-ratio is symmetric about 0 whatever the noise, so prod(1 + c tanh(lambda d))
// is a test martingale (the symmetry e-process: de la Pena 1999; Ramdas et al. 2023,
// "Game-theoretic statistics and safe anytime-valid inference"). Shifting d by theta and keeping
// all theta that are not rejected gives a confidence sequence. One may look after every pair.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hypotheses/manifest.h"
#include "hypotheses/types.h"
#include "policies/limits.h"
#include "policies/policy.h"

namespace policies {

// A bound of the interval that the pairs do not give yet (a ratio of a million), and the greatest
// e-value: both stand in for infinity, which JSON and SQL cannot hold.
inline constexpr double kUnbounded = 13.815510557964274;
inline constexpr double kLargestE = 1e100;

// Exact counters may differ in the last digits (callgrind: 3e-7) and still be exact.
inline constexpr double kExactTolerance = 1e-6;

// Values of one pair, in the metric's unit.
struct PairValues {
  double base = 0;
  double candidate = 0;
};

// The oriented log-ratio: positive = candidate better. Nothing for values that have no log-ratio
// (zero, negative, not finite); both sides zero is 0 (a tie).
std::optional<double> oriented_log_ratio(const PairValues& pair, hypotheses::Better better);

// The evidence in `pairs`; pairs without a log-ratio do not count. `scale` is the s.d. of noise
// known beforehand (from A/A), which sets the bets and must not be computed from these pairs; 0 =
// unknown. A metric that is declared exact is known from its first pair on (low == high), unless
// its pairs disagree or A/A found noise: then it is weighed like any other. What is beyond the
// limits of metric or machine is flagged (limits.h). Costs O(pairs) times the bets and the steps of
// two root searches, and O(pairs^2) additions for the estimate up to 300 pairs; figures are in
// docs/statistics.md.
hypotheses::Evidence weigh(const std::vector<PairValues>& pairs, const hypotheses::MetricKey& key,
                           const hypotheses::Metric& metric, double alpha, double scale,
                           double implausible_ratio, const MachineLimits& machine = {});

// A decision, or nothing while one more pair is worth it.
struct Judgement {
  hypotheses::Verdict verdict;
  std::string reason;  // with the numbers
};

// Own metric or goal, in this order: no-difference (the interval lies inside +-no_difference);
// supported (its lower bound is above 0 and the estimate at least the minimum gain); refuted (its
// upper bound is below 0, or below the minimum gain and telling "nothing" from "worse" is not worth
// more pairs, worth_naming() below); inconclusive at the cap. `exact`: the metric is declared so.
// `attempts` counts pairs that failed too.
std::optional<Judgement> judge_gain(const hypotheses::Evidence& evidence, const EvidenceRule& rule,
                                    bool exact, int attempts);

// The gain is excluded; is it worth going on until the result has its name? While the estimate lies
// inside the band, the band can be reached within the cap, and fewer pairs were taken than
// naming_effort times what excluding the gain is expected to take. A stopping rule like any other:
// it changes which answer is given, and no error rate.
bool worth_naming(const hypotheses::Evidence& evidence, const EvidenceRule& rule, int attempts);

// The oriented log-ratio of a guard's margin: "5% worse" is a time of 1.05 of the base's, or a
// throughput of 0.95. Negative.
double worst_allowed(double margin, hypotheses::Better better);

// Non-inferiority: supported when the whole interval is above -margin, refuted when it is below.
std::optional<Judgement> judge_guard(const hypotheses::Evidence& evidence, double margin,
                                     const EvidenceRule& rule, bool exact, int attempts);

// Confirmation of a winner: supported when e_better >= 1/level and the estimate is at least the
// minimum gain; refuted when the interval says that the gain is below it; inconclusive at the cap.
std::optional<Judgement> judge_confirmation(const hypotheses::Evidence& evidence, double level,
                                            const EvidenceRule& rule, bool exact, int attempts);

// Robust s.d. of log-ratios (1.4826 MAD, at least a tenth of the plain s.d.); 0 for fewer than 2.
double noise_of(const std::vector<double>& log_ratios);

// e-LOND (Xu and Ramdas 2024): the level of the t-th confirmation of a campaign (t from 1) when
// `confirmed` of the earlier ones were discoveries.
double merge_level(double fdr, int t, int confirmed);

}  // namespace policies

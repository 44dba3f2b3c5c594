// A hypothesis judged on a simulated machine: the loop of pairs that the daemon runs, without the
// daemon. Each look is judged by the real rules on the real evidence; only looks at which no rule
// can hold are skipped, which makes tens of thousands of trials a matter of seconds. Error rates
// and power are counted over many of these (aa_rates.cc, docs/statistics.md).
#pragma once

#include <functional>

#include "base/rng.h"
#include "hypotheses/types.h"
#include "policies/policy.h"

namespace policies {

// Two runs of the same commit, back to back, in the order in which they ran; a time, so less is
// better.
struct TwoRuns {
  double first = 0, second = 0;
};

// Gives the next two runs; the generator is the trial's.
using Machine = std::function<TwoRuns(base::Rng&)>;

struct Trial {
  hypotheses::Verdict verdict = hypotheses::Verdict::inconclusive;
  hypotheses::Evidence evidence;  // at the end
  int pairs = 0;
};

// Noise as a night measures it: the rule's A/A pairs, before any trial.
double measure_noise(const Machine& machine, const EvidenceRule& rule, base::Rng& rng);

// judge_gain after every pair, for a candidate whose true oriented effect is `effect`.
Trial try_gain(const Machine& machine, double effect, const EvidenceRule& rule, double scale,
               base::Rng& rng);

// The same with judge_confirmation at `level`.
Trial try_confirmation(const Machine& machine, double effect, const EvidenceRule& rule,
                       double scale, double level, base::Rng& rng);

// The same with judge_guard at `margin`.
Trial try_guard(const Machine& machine, double effect, const EvidenceRule& rule, double scale,
                double margin, base::Rng& rng);

// The oriented log-ratio of the machine's next pair, its order drawn by a coin, for a candidate
// whose true oriented effect is `effect`.
double next_log_ratio(const Machine& machine, double effect, base::Rng& rng);

// A campaign of hypotheses that all change nothing: how many are supported *and* confirmed.
int false_merges(const Machine& machine, int hypotheses, const EvidenceRule& rule, double fdr,
                 base::Rng& rng);

}  // namespace policies

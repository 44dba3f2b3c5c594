// Which questions a hypothesis or a merge needs answered, which of them is next, and what the
// answers add up to.
#pragma once

#include <optional>
#include <vector>

#include "hypotheses/manifest.h"
#include "hypotheses/types.h"
#include "orchestrator/state.h"
#include "policies/choice.h"

namespace orchestrator {

// One question that has to be answered; `key` and `margin` where it is about a metric.
struct Needed {
  hypotheses::Question question = hypotheses::Question::builds;
  hypotheses::MetricKey key;
  double margin = 0;     // of a guard
  double predicted = 0;  // oriented log-ratio
};

// In the order of precedence: builds, correct, own metric, carries over, guards. A question that no
// probe of the manifest covers for this change is left out: it is what nobody knows about the
// result.
std::vector<Needed> needed_questions(const hypotheses::Hypothesis& hypothesis,
                                     const hypotheses::Manifest& manifest,
                                     const policies::Policy& policy);

// The answer among `answers`, if it was found.
const hypotheses::Answer* answer_to(const Needed& needed,
                                    const std::vector<hypotheses::Answer>& answers);

// Whose kin the hypothesis is, for what is learned of such claims.
policies::Lineage lineage_of(const hypotheses::Hypothesis& hypothesis,
                             const hypotheses::Manifest& manifest);

// What the open question looks like to policies::choose_experiment. `shares` are what timelines of
// the base told.
policies::OpenQuestion open_question(const Needed& needed, const hypotheses::Hypothesis& hypothesis,
                                     const hypotheses::Manifest& manifest,
                                     const std::vector<policies::MetricShares>& shares, bool built);

// What the own metric of a claim has to gain so that the goal can gain the policy's minimum: more
// than that minimum where timelines show that the change touches only a share of the goal's time.
struct OwnGain {
  bool within_reach = true;
  std::optional<double> min_gain;  // a fraction; none: the policy's minimum
  std::string reason;              // why it is out of reach
};
OwnGain needed_own_gain(const hypotheses::Hypothesis& hypothesis,
                        const hypotheses::Manifest& manifest,
                        const std::vector<policies::MetricShares>& shares,
                        const policies::Policy& policy);

// The verdict that the answers so far amount to; nothing while another question has to be asked.
struct Settled {
  hypotheses::Verdict verdict;
  std::string reason;
  std::optional<hypotheses::Evidence> evidence;  // on the own metric
};
std::optional<Settled> settle(const std::vector<Needed>& needed,
                              const std::vector<hypotheses::Answer>& answers);

// `key` with each condition that the metric's probe has and `key` lacks set to the first choice.
hypotheses::MetricKey complete_key(const hypotheses::Manifest& manifest, hypotheses::MetricKey key);
const hypotheses::Probe* probe_of_metric(const hypotheses::Manifest& manifest,
                                         const std::string& metric);
double oriented(const hypotheses::Manifest& manifest, const hypotheses::Prediction& prediction);

// What is known and what is not about a merge, in sentences for its page.
std::string known_text(const hypotheses::MergeRequest& merge, const State& state);
std::string unknown_text(const hypotheses::Hypothesis& hypothesis,
                         const hypotheses::Manifest& manifest);

}  // namespace orchestrator

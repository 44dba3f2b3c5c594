// The cheapest experiment that can answer (DESIGN 5). Pure: everything comes in as values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hypotheses/manifest.h"
#include "hypotheses/types.h"
#include "policies/policy.h"

namespace policies {

// What a night has learned so far about its probes.
struct Learned {
  std::map<std::string, double> run_s;  // seconds of one run, by probe (mean)
  std::map<std::string, double> noise;  // s.d. of the paired log-ratio, by to_text(MetricKey)
  // Share of a metric's time that the changed subject accounts for, by to_text(MetricKey); absent
  // = 1.
  std::map<std::string, double> share;
  double build_cold_s = 0, build_warm_s = 0;  // of one side; 0 = unknown
  // Outcomes of own-metric questions so far, for P(real): Beta(1 + hits, 1 + misses).
  int hits = 0, misses = 0;
  double shrink = 1;  // measured over predicted effect in the past, at most 1
};

// One question that needs an answer.
struct OpenQuestion {
  hypotheses::Question question;
  hypotheses::MetricKey key;  // what is judged; empty for builds and correct
  hypotheses::Layer layer = hypotheses::Layer::kernel;  // of the subject
  double predicted = 0;            // log-ratio of the prediction, oriented (positive = better)
  double margin = 0;               // of a guard
  double level = 0;                // alpha; 0 = the rule's
  std::vector<std::string> paths;  // that the change touches
  std::vector<std::string> knobs;
  bool candidate_is_warm = false;  // is built already
  bool change_is_empty = false;    // a pure measurement: every probe covers it
};

struct Choice {
  std::optional<hypotheses::Alternative> chosen;      // none: nothing can answer
  std::vector<hypotheses::Alternative> alternatives;  // all that were weighed, the chosen one first
  std::string reason;                                 // in a sentence, with the numbers
};

// Among the probes that can answer take the least expected cost (ties: the manifest's order).
Choice choose_experiment(const OpenQuestion& question, const hypotheses::Manifest& manifest,
                         const Learned& learned, const Policy& policy, double remaining_s);

// Expected number of pairs to settle an oriented effect d against noise s at level alpha:
// P(real) n(support) + (1 - P(real)) n(equivalence), the latter at most the cap. 1 for exact
// counters (s = 0).
double expected_pairs(double effect, double noise, double p_real, const EvidenceRule& rule,
                      double level);

// Effect that is seen at a metric of which the subject is the share x of the time (Amdahl):
// log(1 - x + x e^d), d in the metric's own sense.
double diluted(double log_ratio, double share);

// Cost in machine-seconds: the candidate's build (the base is built once a night) and two runs a
// pair, priced by resources. Priors until something is learned: 30 s a build; a run of 1, 5, 20 s
// by layer, at most half its time limit.
double expected_cost_s(const hypotheses::Probe& probe, double pairs, bool needs_build,
                       const Learned& learned, const Policy& policy);

}  // namespace policies

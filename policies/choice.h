// The cheapest experiment that can answer (DESIGN 5). Pure: everything comes in as values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hypotheses/manifest.h"
#include "hypotheses/types.h"
#include "policies/costs.h"
#include "policies/policy.h"
#include "policies/track.h"

namespace policies {

// What a night has learned so far about its probes.
struct Learned {
  std::map<std::string, Costs> run;  // of one run, by probe
  std::map<std::string, double>
      noise;  // s.d. of the paired log-ratio, by to_text(MetricKey), of A/A
  // Likewise, of comparisons where no A/A was made: good enough to expect and to give up by, not to
  // refuse a question for, since then it would never be measured again.
  std::map<std::string, double> seen_noise;
  Costs build_cold, build_warm;  // of one side
  Track track;                   // how earlier hypotheses fared
};

// One question that needs an answer.
struct OpenQuestion {
  hypotheses::Question question;
  hypotheses::MetricKey key;  // what is judged; empty for builds and correct
  Lineage lineage;            // of the claim; its layer is the subject's
  double predicted = 0;       // log-ratio of the prediction, oriented (positive = better)
  // Share of a metric's time that the changed subject accounts for, by to_text(MetricKey), from the
  // base's newest trace or profile; absent = 1.
  std::map<std::string, double> share;
  double margin = 0;               // of a guard
  double level = 0;                // alpha; 0 = the rule's
  double min_gain = 0;             // of an own metric that has to carry over; 0 = the rule's
  std::vector<std::string> paths;  // that the change touches
  std::vector<std::string> knobs;
  bool candidate_is_warm = false;  // is built already
  bool fresh_build = false;        // both sides from an empty folder, as a merge is measured
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

// Pairs until an oriented effect d is settled against noise s at level alpha, if it is what was
// predicted: told from 0, or from the minimum gain where it is nearer to none.
double pairs_to_settle(double effect, double noise, const EvidenceRule& rule, double level);

// Expected number of pairs: P(real) n(settle d) + (1 - P(real)) n(refute), both at most the cap. 1
// for exact counters (s = 0).
double expected_pairs(double effect, double noise, double p_real, const EvidenceRule& rule,
                      double level);

// Which builds an experiment needs first. The base is built once a night.
enum class Builds {
  none,       // the candidate is built
  candidate,  // warm, in a folder that holds an older build
  both,       // both sides from an empty folder
};

// Cost in machine-seconds: the builds and two runs a pair, priced by resources. Priors (costs.h): a
// build takes 30 s, from an empty folder as long as a warm one or longer; a run 1, 5, 20 s by
// layer, at most half its time limit.
double expected_cost_s(const hypotheses::Probe& probe, double pairs, Builds builds,
                       const Learned& learned, const Policy& policy);
double expected_run_s(const hypotheses::Probe& probe, const Learned& learned);
double expected_build_s(bool cold, const Learned& learned);

}  // namespace policies

// The numbers and rules of a campaign (docs/policy.md); read from YAML, shipped as default.yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hypotheses/types.h"
#include "hypotheses/yaml.h"

namespace policies {

// When evidence is enough (DESIGN 6). Fractions as in the YAML's percents (0.02 = 2%); the judges
// turn them into oriented log-ratios.
struct EvidenceRule {
  double alpha = 0.05;            // two-sided level of the confidence sequence
  double min_gain = 0.02;         // supported needs at least this estimate
  double no_difference = 0.02;    // the interval inside +-this is "no difference"; <= min_gain
  double naming_effort = 2;       // pairs to name "no difference", over those to exclude a gain
  double guard_margin = 0.05;     // default non-inferiority margin, for guards that name none
  double give_up = 1.6;           // standard errors (hopeless.h); 0 = never before the interval
  int min_pairs = 3;              // before anything but an exact counter is decided
  int max_pairs = 40;             // attempts, also those that failed
  int noise_pairs = 6;            // A/A pairs at the start of a night, a probe and condition
  double max_noise = 0.5;         // s.d. of a pair's log-ratio above which a machine is quarantined
  double implausible_ratio = 10;  // flagged, not believed
};

struct PlannerRule {
  std::string kind = "builtin";  // "builtin" or "llm"
  std::string endpoint;  // base URL of an OpenAI-compatible API: http(s)://host[:port][/path]
  std::string model;
  std::string key_env = "NIGHTSHIFT_LLM_KEY";  // name of the variable with the key
  int max_turns = 40;                          // per night
  int max_retries = 2;                         // per turn
  std::int64_t max_tokens = 200'000;           // per night, committed spend counted
  std::int64_t answer_tokens = 4'000;          // per answer
  double timeout_s = 60;
  int patience =
      3;  // after so many turns in a row without a valid step the built-in one takes over
  std::size_t patch_bytes = 64 << 10;
};

struct MergeRule {
  bool on_kernel_evidence = false;  // a kernel win may be merged without engine evidence
  bool auto_approve_knobs = false;
  int max_remeasures = 3;  // when the base moved meanwhile
  double fdr = 0.05;       // e-LOND level over a campaign's confirmations
};

// How long the files that experiments leave are kept (orchestrator/retention.h). 0 = for ever, and
// as many as there are.
struct RetentionRule {
  int artifacts_days = 30;  // after the experiment's night
  bool keep_merged = true;  // what landed keeps the files of its evidence
  double max_gib = 0;       // of all files of the campaign's experiments; the oldest go first
};

struct Policy {
  EvidenceRule evidence;
  hypotheses::Budget budget = {28'800, 28'800, 2'000, 200'000};  // of one night: 8 h; 0 = no limit
  PlannerRule planner;
  MergeRule merge;
  RetentionRule retention;
  double fetch_s = 600;  // a running night looks at the target so often; 0 = only at its start
  std::string sandbox = "required";          // required, auto, none
  std::vector<std::string> protected_paths;  // added to the manifest's
  int max_hypotheses = 0;                    // a night; 0 = as many as the budget allows
  double core_price = 1;                     // cost of a core-second, in machine-seconds
  double gpu_price = 10;                     // cost of a GPU-second, likewise
};

struct PolicyOutcome {
  Policy policy;  // defaults where the text is silent
  std::vector<hypotheses::Mistake> mistakes;
};
// An empty text is the default policy.
PolicyOutcome parse_policy(std::string_view yaml, std::string file);
base::Result<Policy> read_policy(std::string_view yaml,
                                 std::string file);  // all mistakes in one error

}  // namespace policies

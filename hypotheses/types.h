// The vocabulary of docs/glossary.md as plain values. Nothing here does IO or knows a clock.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "hypotheses/ids.h"
#include "hypotheses/words.h"

namespace hypotheses {

// Names and values of a probe's conditions, for example {batch: 1}.
using Conditions = std::map<std::string, std::string>;

std::string to_text(const Conditions& conditions);  // "batch=1,len=64"; empty for none

// A metric in given conditions: "kda_decode.time{batch=1}".
struct MetricKey {
  std::string metric;
  Conditions conditions;
  auto operator<=>(const MetricKey&) const = default;
};
std::string to_text(const MetricKey& key);

// What the claim expects: log_ratio = log(candidate / base) in the metric's own sense, so -40% of a
// time is log(0.6).
struct Prediction {
  MetricKey key;
  double log_ratio = 0;
};
std::string to_text(const Prediction& prediction);  // "kda_decode.time{batch=1} -40%"

// The inverse of to_text(Prediction); nothing when the text has another form.
std::optional<Prediction> parse_prediction(std::string_view text);

struct KnobSetting {
  std::string knob;   // a name in the manifest
  std::string value;  // one of its choices
  auto operator<=>(const KnobSetting&) const = default;
};

// Replaces the one occurrence of `search` in the file by `replace`.
struct Edit {
  std::string path;
  std::string search;
  std::string replace;
  auto operator<=>(const Edit&) const = default;
};

// What a hypothesis changes: knobs, or edits, or whatever a branch of the target holds; all empty =
// nothing, a pure measurement.
struct Change {
  std::vector<KnobSetting> knobs;
  std::vector<Edit> edits;
  std::string branch;  // "try/wider-tiles"
  // The branch's, where the daemon found it pushed; none: its tip when a night takes it up.
  CommitId commit = {};
  auto operator<=>(const Change&) const = default;
  bool empty() const { return knobs.empty() && edits.empty() && branch.empty(); }
  bool knobs_only() const { return edits.empty() && branch.empty(); }
};
std::string to_text(const Change& change);  // "kda_decode.v_tile = 128"; "edits kernels/x.h"

struct Subject {
  SubjectKind kind = SubjectKind::kernel;
  std::string name;
};

// The paired comparison of candidate and base. `effect` and the interval are oriented log-ratios:
// positive = better, whichever way the metric counts.
struct Evidence {
  MetricKey key;
  Better better = Better::lower;
  double effect = 0;                 // estimate
  double low = 0, high = 0;          // confidence sequence at the rule's level
  double e_better = 1, e_worse = 1;  // e-values against "no better" and against "no worse"
  int pairs = 0;                     // pairs that counted
  double noise = 0;                  // s.d. of the paired log-ratios
  double base_value = 0, candidate_value = 0;  // medians, in the metric's unit
  std::string unit;
  std::string flag;  // "above 10x", "above the machine's copy rate"; empty = believed
};

// "1.71x faster (1.65x to 1.77x)" or "+0.3% (-1.0% to +1.6%)", in the metric's own sense.
std::string effect_text(const Evidence& evidence);

struct Answer {
  Question question = Question::builds;
  Verdict verdict = Verdict::inconclusive;
  std::string reason;
  std::optional<Evidence> evidence;
  ExperimentId experiment;
};

struct Hypothesis {
  HypothesisId id;
  CampaignId campaign;
  NightId night;
  HypothesisId parent;  // the supported hypothesis on which this one builds; none = the base branch
  std::string claim;
  Subject subject;
  Change change;
  Prediction prediction;
  Origin origin = Origin::builtin;
  base::Instant opened;
  double merge_level = 0;  // alpha of its confirmation, fixed now (e-LOND)

  HypothesisState state = HypothesisState::queued;
  std::string why_taken;  // by a night, before all others that waited
  CommitId base;          // what it is compared with
  CommitId candidate;     // none until committed
  std::string branch;
  std::vector<std::string> paths;  // that differ between base and candidate
  std::vector<Answer> answers;     // in the order in which they were found
  std::optional<Verdict> verdict;
  std::string reason;
  std::optional<Evidence> evidence;  // on the predicted metric
  double cost_s = 0;
};

// One alternative that was weighed when an experiment was chosen.
struct Alternative {
  std::string probe;
  MetricKey key;
  Question question = Question::builds;
  double share = 1;
  double noise = 0;
  double pairs = 0;   // expected
  double cost_s = 0;  // expected, builds included
  bool can_answer = false;
  std::string reason;  // why it was chosen, lost, or cannot answer
};

// Exactly one of `hypothesis` and `merge` is set, or neither: then it is about the base itself, an
// A/A measurement of noise or, by its probe, a timeline.
struct Experiment {
  ExperimentId id;
  CampaignId campaign;
  NightId night;
  HypothesisId hypothesis;
  MergeRequestId merge;
  Question question = Question::builds;
  std::string probe;  // a name in the manifest; "build" for the manifest's build
  MetricKey key;      // what is judged; empty for builds and correct
  bool fresh_build = false;
  CommitId base, candidate;
  std::uint64_t seed = 0;
  double estimate_s = 0;  // machine-seconds reserved from the budget
  int max_attempts = 1;
  // Fraction that the own metric has to gain so that the goal can gain the policy's minimum
  // (Amdahl); none: the policy's minimum.
  std::optional<double> min_gain;
  std::string why;                        // why this, why now
  std::vector<Alternative> alternatives;  // what was weighed

  ExperimentState state = ExperimentState::running;
  std::optional<Answer> answer;
  double cost_s = 0;
};

// A measured fact of one run.
struct Observation {
  MetricKey key;
  double value = 0;
  std::string unit;
};

// A part of a timeline: the instants in which these spans of the manifest were open where the time
// went, outermost first, and their share of the timeline's duration.
struct StackShare {
  std::vector<std::string> spans;
  double share = 0;
};

// How the time of a metric divides among spans. What is in no stack and not idle went to spans that
// the manifest does not name.
struct Timeline {
  std::vector<StackShare> stacks;
  double idle = 0;                   // share of the instants in which nothing was busy
  std::vector<std::string> missing;  // spans of the manifest that never appear
};

// Share of the instants in which the span was open, whatever it had called.
double inclusive_share(const Timeline& timeline, std::string_view span);

// What else went on while a run was measured.
struct MachineState {
  std::string machine;                  // host name and processor model
  double load = 0;                      // 1-minute load average before the run
  double mhz = 0;                       // of the measured core; 0 = unknown
  double steal_s = 0;                   // time taken by other tenants during the run
  std::string sandbox;                  // "bubblewrap", "none"
  std::string system;                   // "Linux 6.1.0, governor performance"
  std::string built;                    // compiler and flags, as the build folder tells them
  std::optional<double> others_s;       // CPU time that other processes took on the run's cores
  std::optional<double> temperature_c;  // the hottest sensor, after the run
  std::optional<std::int64_t>
      throttled;  // times that the measured cores were throttled during the run
  std::optional<std::int64_t> free_bytes;  // memory available before the run
  std::string disturbed;                   // why the run is no fair sample; empty = it is
};

struct Run {
  RunId id;
  ExperimentId experiment;
  int attempt = 0;  // pair number, from 0
  Side side = Side::candidate;
  int position = 0;      // 0 = first of its pair
  bool measured = true;  // false for the builds that an experiment needed
  RunOutcome outcome = RunOutcome::could_not_run;
  std::string detail;  // the first error, the first mismatch, the missing metric
  base::Instant started;
  double wall_s = 0;
  std::vector<Observation> observations;
  std::optional<Timeline> timeline;  // of a probe that prints one
  MachineState machine;
  std::string artifacts;  // folder with stdout and stderr, relative to the artifact store
};

struct Budget {
  double wall_s = 0;
  double machine_s = 0;
  int experiments = 0;
  std::int64_t tokens = 0;
};

// A goal, a policy, a schedule and a budget on one target.
struct Campaign {
  CampaignId id;
  std::string name;
  std::string target;     // path or URL of the repository
  std::string base;       // branch
  MetricKey goal;         // what the planner tries to improve
  std::string schedule;   // five-field cron; empty = only when asked
  std::string time_zone;  // IANA name
  std::string policy;     // the policy's YAML text, as read
  std::string planner;    // "builtin" or "llm"
  std::uint64_t seed = 1;
  CampaignState state = CampaignState::active;
  base::Instant created;
};

struct Night {
  NightId id;
  CampaignId campaign;
  base::Instant started;
  base::Instant deadline;
  CommitId base;
  std::string manifest;                         // the base commit's nightshift.yaml, as read
  std::map<std::string, std::string> settings;  // the knobs' values in the base commit
  std::optional<double> copy_rate;              // bytes/s, measured where a metric is limited by it
  std::uint64_t seed = 1;
  NightState state = NightState::running;
  base::Instant ended;
  std::string reason;  // why it ended
};

struct MergeRequest {
  MergeRequestId id;
  CampaignId campaign;
  NightId night;
  HypothesisId hypothesis;
  CommitId candidate;
  CommitId base;    // the base that was merged with
  CommitId merged;  // M: what is measured, approved and landed
  MergeState state = MergeState::preparing;
  std::string reason;
  std::vector<Answer> answers;  // M's own evidence
  std::string known;            // what the evidence shows
  std::string unknown;          // what nobody measured
  CommitId approved_commit;
  std::string approved_by;
  base::Instant approved_at;
  std::string landed_ref;
  int remeasures = 0;  // how often a moved base made it start anew
};

// One question to a planner and what came of it.
struct PlannerTurn {
  CampaignId campaign;
  NightId night;
  int turn = 0;
  std::string planner;  // "builtin", "llm"
  std::int64_t tokens = 0;
  std::string outcome;  // "proposed", "stopped", "refused", "failed"
  std::string text;     // what was asked and answered, secrets redacted
};

}  // namespace hypotheses

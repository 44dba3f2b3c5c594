// What a planner sees and what it may answer. Both are values: the built-in planner is a pure
// function of the view, the LLM's answer is untrusted input that is checked like anybody's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hypotheses/manifest.h"
#include "hypotheses/types.h"
#include "policies/policy.h"

namespace orchestrator {

// One claim that was made earlier in the campaign, and what came of it.
struct PastClaim {
  hypotheses::HypothesisId id;
  hypotheses::NightId night;
  hypotheses::CommitId base;  // what it was compared with
  bool same_base = true;      // its night began from the same base commit as this one
  bool knobs_only = true;     // it and what it builds on change nothing but knobs
  hypotheses::HypothesisId parent;
  std::string claim;
  hypotheses::Change change;
  std::map<std::string, std::string> settings;  // all knobs, as the candidate had them
  hypotheses::Prediction prediction;
  std::optional<hypotheses::Verdict> verdict;  // none: still open
  std::string reason;
  double effect = 0;  // oriented log-ratio; 0 where nothing was measured
};

struct PlannerView {
  hypotheses::NightId night;
  hypotheses::Manifest manifest;
  hypotheses::MetricKey goal;
  hypotheses::HypothesisId incumbent;  // none: the base branch
  bool knobs_only = true;              // the incumbent differs from the base in knobs alone
  std::map<std::string, std::string> settings;       // knobs as they stand in the incumbent
  std::map<std::string, std::string> base_settings;  // and in the base branch
  std::vector<PastClaim> history;                    // oldest first
  std::vector<std::string> refusals;                 // of this night, newest last
  std::uint64_t seed = 1;
  int turn = 0;
  double remaining_s = 0;  // machine-seconds
};

struct Proposal {
  std::string claim;
  hypotheses::Subject subject;
  hypotheses::Change change;  // empty = a measurement of the incumbent as it is
  hypotheses::Prediction prediction;
};
struct Stop {
  std::string reason;
};
using Step = std::variant<Proposal, Stop>;

// The built-in planner: seeded search over the knobs' choices, one knob changed a step, from the
// incumbent. It never repeats a combination, prefers knobs that helped before, and moves on from a
// knob's side on which a neighbour was refuted. The same view gives the same step.
Step next_step(const PlannerView& view);

// What is wrong with the proposal whatever the manifest says: an empty or endless claim, a path out
// of the repository, too large a patch, a predicted size that is no number (and could not be read
// back from the record).
std::optional<std::string> malformed(const Proposal& proposal, const policies::Policy& policy);

// Why the campaign does not take the proposal; nothing when it does. Checks claim, subject, knobs
// and choices, edits (paths, size, protected), prediction (metric and conditions that a probe
// emits), and whether the same change was judged before (names the earlier verdict: "H-3 refuted
// it: ...").
std::optional<std::string> refusal(const Proposal& proposal, const PlannerView& view,
                                   const policies::Policy& policy);

// The edits applied to one file's text, all or nothing: each `search` must occur exactly once. The
// error names the block and the nearest match.
base::Result<std::string> apply_edits(const std::string& path, const std::string& text,
                                      const std::vector<hypotheses::Edit>& edits);

}  // namespace orchestrator

// What a campaign has claimed so far, indexed, so that neither a planner's turn nor the check of a
// proposal takes longer as the history grows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hypotheses/manifest.h"
#include "hypotheses/types.h"

namespace orchestrator {

struct State;
struct NightRecord;

struct ClaimIndex {
  std::vector<hypotheses::HypothesisId> opened;  // all, in that order
  // By a hash of what was tried: the change beside its parent, and the settings of the knobs that
  // come of it, each on its night's base commit. Two that share a hash by chance are both shown.
  std::map<std::string, std::vector<hypotheses::HypothesisId>> by_work;
};

// Enters a hypothesis when it is opened, and again when a night takes it up (which gives it a
// parent).
void index_claim(State& state, const hypotheses::Hypothesis& hypothesis);

// Claims that tried one of these changes, or what would come of it, beside the night's incumbent;
// some of those, where there are many.
std::vector<hypotheses::HypothesisId> claims_like(const State& state, const NightRecord& night,
                                                  const std::vector<hypotheses::Change>& changes);

// The knobs' values of a candidate: its night's base, changed by its ancestors and by itself.
std::map<std::string, std::string> settings_of(const State& state,
                                               const hypotheses::Hypothesis& hypothesis);

// The knobs' values beside which a night's next hypothesis is tried.
std::map<std::string, std::string> incumbent_settings(const State& state, const NightRecord& night);

// It and what it builds on change nothing but knobs; true for none.
bool changes_knobs_only(const State& state, hypotheses::HypothesisId id);

}  // namespace orchestrator

// What was recorded, kept a second time and more simply than the daemon keeps it (state.h), so that
// the invariants do not ask the code that they check.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hypotheses/facts.h"
#include "hypotheses/manifest.h"
#include "orchestrator/effects.h"
#include "policies/policy.h"

namespace orchestrator {

struct SeenCampaign {
  hypotheses::Campaign created;
  policies::Policy policy;
  hypotheses::CampaignState state = hypotheses::CampaignState::active;
  hypotheses::NightId running;  // none when no night runs
  bool has_manifest = false;    // a night has read one
  double level_spent = 0;       // of the false discoveries allowed: e-LOND's levels
  int confirmed = 0;            // merges that were confirmed at the first measurement
  // The least s.d. of a pair that A/A or six pairs and more of any comparison showed, by metric
  // key.
  std::map<std::string, double> least_noise;
};

struct SeenNight {
  hypotheses::Night started;
  std::shared_ptr<const hypotheses::Manifest> manifest;
  bool running = true;
  double machine_s = 0;
  int experiments = 0;
  std::int64_t tokens = 0;
  int failed_turns = 0;  // of the LLM, in a row
  bool has_timeline = false;
};

struct SeenHypothesis {
  hypotheses::Hypothesis opened;
  hypotheses::HypothesisState state = hypotheses::HypothesisState::queued;
  hypotheses::CommitId base, candidate;
  std::vector<std::string> paths;
  std::vector<hypotheses::Answer> answers;
  std::optional<hypotheses::Verdict> verdict;
};

struct SeenExperiment {
  hypotheses::Experiment started;
  hypotheses::ExperimentState state = hypotheses::ExperimentState::running;
  std::vector<hypotheses::Run> runs;
  std::optional<hypotheses::Answer> answer;
  double cost_s = 0;
  int attempts = 0;     // that came back
  std::set<int> asked;  // attempts that were asked for
};

struct SeenMerge {
  hypotheses::MergeRequest opened;
  hypotheses::MergeState state = hypotheses::MergeState::preparing;
  hypotheses::CommitId base, merged, approved;
  std::vector<hypotheses::Answer> answers;  // about `merged`
  int made = 0;                             // merge commits so far
};

struct Ledger {
  std::map<hypotheses::CampaignId, SeenCampaign> campaigns;
  std::map<hypotheses::NightId, SeenNight> nights;
  std::map<hypotheses::HypothesisId, SeenHypothesis> hypotheses;
  std::map<hypotheses::ExperimentId, SeenExperiment> experiments;
  std::map<hypotheses::MergeRequestId, SeenMerge> merges;
  std::map<hypotheses::EffectId, EffectKind> pending;
  std::int64_t facts = 0;
  std::uint64_t hash = 0;  // of all facts in their order

  void add(const hypotheses::Fact& fact);
  void ask(const Effect& effect);
  void done(hypotheses::EffectId effect) { pending.erase(effect); }
};

// The hash after one more fact: equal logs have equal hashes.
std::uint64_t hash_with(std::uint64_t hash, const hypotheses::Fact& fact);

// Whose campaign an effect works for.
hypotheses::CampaignId campaign_of(const Ledger& ledger, const EffectKind& effect);

}  // namespace orchestrator

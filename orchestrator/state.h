// What the daemon knows: a fold over the recorded facts, plus the effects that are pending.
// decide() reads it, apply() alone changes it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "hypotheses/facts.h"
#include "hypotheses/manifest.h"
#include "orchestrator/claims.h"
#include "orchestrator/effects.h"
#include "orchestrator/queue.h"
#include "policies/budget.h"
#include "policies/choice.h"
#include "policies/policy.h"
#include "policies/schedule.h"
#include "policies/shares.h"

namespace orchestrator {

struct CampaignRecord {
  hypotheses::Campaign campaign;
  policies::Policy policy;
  std::optional<policies::Schedule> schedule;
  base::Instant last_due;                      // when a night was last asked for
  std::optional<hypotheses::NightId> running;  // its night, while there is one
  std::vector<hypotheses::NightId> nights;
  std::set<hypotheses::HypothesisId> open;  // hypotheses that are not decided or cancelled
  ClaimIndex claims;
  base::Instant last_fetch;             // when a night last looked at the target
  std::string fetch_trouble;            // why that failed; empty = it did not
  std::set<hypotheses::CommitId> read;  // commits of pushed branches, each read once
  int confirmations = 0;                // levels handed out (e-LOND's t)
  int confirmed = 0;                    // of those, discoveries
};

struct NightRecord {
  hypotheses::Night night;
  std::shared_ptr<const hypotheses::Manifest> manifest;  // none once it is settled (settled.h)
  hypotheses::HypothesisId incumbent;
  std::vector<hypotheses::HypothesisId> hypotheses;
  Queue queue;                     // while it runs
  hypotheses::HypothesisId taken;  // the last that was taken up
  std::vector<hypotheses::ExperimentId> experiments;
  std::set<hypotheses::ExperimentId> running;  // of those
  std::vector<hypotheses::MergeRequestId> merges;
  std::vector<std::string> refusals;
  policies::Spend spend;  // of what was recorded; spend_of() adds what is in flight
  policies::Learned learned;
  std::vector<policies::MetricShares> shares;  // what timelines of this night's base say
  std::set<std::string> timelines;             // asked for in this night, by timeline_name()
  std::set<std::string> measured_noise;        // metric keys whose noise this night has measured
  std::map<std::string, int> noise_failures;   // A/A that found a difference, by metric key
  int turns = 0;                               // planner turns taken
  int fruitless = 0;                           // LLM turns in a row without a valid step
  std::string planner_stopped;                 // why it proposes no more; empty = it does
  std::string machine_trouble;                 // why no more experiments may run; empty = they may
};

struct ExperimentRecord {
  hypotheses::Experiment experiment;
  std::vector<hypotheses::Run> runs;
  int attempts = 0;  // that came back
};

struct State {
  std::map<hypotheses::CampaignId, CampaignRecord> campaigns;
  std::map<hypotheses::NightId, NightRecord> nights;
  std::map<hypotheses::HypothesisId, hypotheses::Hypothesis> hypotheses;
  std::map<hypotheses::ExperimentId, ExperimentRecord> experiments;
  std::map<hypotheses::MergeRequestId, hypotheses::MergeRequest> merges;
  std::map<hypotheses::EffectId, Effect> pending;

  // The next free ids.
  std::int64_t next_campaign = 1, next_night = 1, next_hypothesis = 1, next_experiment = 1,
               next_run = 1, next_merge = 1, next_effect = 1;
};

// Adds one fact. An illegal transition or an unknown id is a bug or a corrupt log, named in the
// error.
base::Status apply(State& state, const hypotheses::Fact& fact);

// What follows from the other fields: policy and schedule of a campaign, the manifest of a night.
base::Status complete(CampaignRecord& record);
base::Status complete(NightRecord& record, const CampaignRecord& campaign);

const CampaignRecord& campaign_of(const State& state, const NightRecord& night);

// Whether an experiment that is nobody's is a timeline of the base, not an A/A measurement.
bool is_timeline(const hypotheses::Manifest& manifest, const hypotheses::Experiment& experiment);
std::string timeline_name(const std::string& probe, const hypotheses::MetricKey& key);

// True while the campaign's next night is being opened.
bool night_opening(const State& state, hypotheses::CampaignId campaign);

// Spend of a night with the work in flight.
policies::Spend spend_of(const State& state, const NightRecord& night);

}  // namespace orchestrator

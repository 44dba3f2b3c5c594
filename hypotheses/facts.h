// Everything that can be recorded. The daemon's state is a fold over these, in order; the store
// keeps them as its event log and projects them into tables.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "hypotheses/types.h"

namespace hypotheses {

struct CampaignCreated {
  Campaign campaign;
};
struct CampaignChanged {
  CampaignId campaign;
  CampaignState state;
  std::string reason;
};

// A night was asked for, by the schedule or by a person; it starts once the target could be read.
struct NightDue {
  CampaignId campaign;
  base::Instant at;
  std::string why;
};
struct NightStarted {
  Night night;
};
struct NightEnded {
  NightId night;
  base::Instant at;
  std::string reason;
};
// The hypothesis on whose candidate the next ones build.
struct IncumbentChosen {
  NightId night;
  HypothesisId hypothesis;
};

struct ProposalRefused {
  CampaignId campaign;
  NightId night;
  Origin origin;
  std::string proposal;
  std::string reason;
};
struct HypothesisOpened {
  Hypothesis hypothesis;
};
struct HypothesisMoved {
  HypothesisId hypothesis;
  HypothesisState state;
  std::string reason;
};
// A night takes a queued hypothesis up: its change will be committed on `base`.
struct HypothesisTaken {
  HypothesisId hypothesis;
  NightId night;
  HypothesisId parent;
  CommitId base;
  std::string why;  // it and no other that waits; came later, so empty in old logs
};
struct CandidateMade {
  HypothesisId hypothesis;
  CommitId commit;
  std::string branch;
  std::vector<std::string> paths;  // that differ from the base
};
struct QuestionAnswered {
  HypothesisId hypothesis;
  Answer answer;
};
struct HypothesisDecided {
  HypothesisId hypothesis;
  Verdict verdict;
  std::string reason;
  std::optional<Evidence> evidence;
};

struct ExperimentStarted {
  Experiment experiment;
};
struct RunRecorded {
  Run run;
};
struct ExperimentFinished {
  ExperimentId experiment;
  Answer answer;
  double cost_s;
};
struct ExperimentCancelled {
  ExperimentId experiment;
  std::string reason;
};
// S.d. of the paired log-ratio of a probe's metric, both sides the same commit.
struct NoiseMeasured {
  NightId night;
  std::string probe;
  MetricKey key;
  std::string machine;
  double noise;
  int pairs;
};

// What a timeline of the base says about the time of a metric, or that it says nothing.
struct TimelineRead {
  NightId night;
  ExperimentId experiment;  // none: the budget did not pay for it
  std::string probe;
  MetricKey key;  // the metric whose time it divides, in the timeline's conditions
  CommitId base;
  std::optional<Timeline> timeline;  // none: the shares stay unknown
  std::string reason;                // why they do, or what is remarkable
};

struct MergeOpened {
  MergeRequest merge;
};
struct MergeChanged {
  MergeRequestId merge;
  MergeState state;
  std::string reason;
  CommitId base, merged;  // kept as they were when empty, likewise below
  std::string landed_ref;
  std::string known, unknown;
};
struct MergeAnswered {
  MergeRequestId merge;
  Answer answer;
};
struct MergeApproved {
  MergeRequestId merge;
  CommitId commit;
  std::string who;
  base::Instant at;
};

struct PlannerSpoke {
  PlannerTurn turn;
};
// A branch below try/ as it was when it was first read; each commit is read once.
struct ReadBranch {
  std::string branch;  // "try/wider-tiles"
  CommitId commit;
};
// The target was looked at, at a night's start or on schedule while one runs.
struct TargetFetched {
  CampaignId campaign;
  base::Instant at;
  std::vector<ReadBranch> branches;  // that are new; what came of each is told beside it
  std::string trouble;               // why it could not be read; empty = it was
};
// Anything that a person should be able to read later: late completions, take-overs, restarts.
struct Noted {
  CampaignId campaign;
  NightId night;
  std::string text;
};

using Fact = std::variant<CampaignCreated, CampaignChanged, NightDue, NightStarted, NightEnded,
                          IncumbentChosen, ProposalRefused, HypothesisOpened, HypothesisMoved,
                          HypothesisTaken, CandidateMade, QuestionAnswered, HypothesisDecided,
                          ExperimentStarted, RunRecorded, ExperimentFinished, ExperimentCancelled,
                          NoiseMeasured, TimelineRead, MergeOpened, MergeChanged, MergeAnswered,
                          MergeApproved, PlannerSpoke, TargetFetched, Noted>;

// "hypothesis-opened" and so on: the event's name in the log, in SSE and in exports.
std::string_view kind_of(const Fact& fact);

}  // namespace hypotheses

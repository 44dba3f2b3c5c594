// What the loop may do to the world. An effect names things by id; what is needed to perform it is
// looked up in the state when it is dispatched (orders.h). Each is idempotent by its id or by what
// it names, so that after a crash it may be performed again.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "hypotheses/types.h"
#include "store/store.h"

namespace orchestrator {

// Fetch the target, resolve its base branch and read the manifest, so that a night can start.
struct OpenNight {
  hypotheses::CampaignId campaign;
};
// Commit the hypothesis' change onto its base as a branch night/<id>.
struct MakeCandidate {
  hypotheses::HypothesisId hypothesis;
};
// Build what is needed and launch the sides once, in this order.
struct RunAttempt {
  hypotheses::ExperimentId experiment;
  int attempt = 0;
  std::vector<hypotheses::Side> sides;
};
// Kill whatever runs of an experiment that was cancelled.
struct StopExperiment {
  hypotheses::ExperimentId experiment;
};
// Merge the candidate with the target's base as it is now.
struct PrepareMerge {
  hypotheses::MergeRequestId merge;
};
// Compare-and-swap the target's base ref to the approved merge commit.
struct LandMerge {
  hypotheses::MergeRequestId merge;
};
// Ask the LLM for one step. `reserved_tokens` count as spent until it answers.
struct AskPlanner {
  hypotheses::NightId night;
  int turn = 0;
  std::int64_t reserved_tokens = 0;
};
// Look for branches that were pushed to the target meanwhile.
struct FetchTarget {
  hypotheses::CampaignId campaign;
};

using EffectKind = std::variant<OpenNight, MakeCandidate, RunAttempt, StopExperiment, PrepareMerge,
                                LandMerge, AskPlanner, FetchTarget>;

struct Effect {
  hypotheses::EffectId id;
  EffectKind kind;
};

store::PendingEffect to_pending(const Effect& effect);
base::Result<Effect> from_pending(const store::PendingEffect& pending);

}  // namespace orchestrator

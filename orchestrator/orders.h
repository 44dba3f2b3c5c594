// An effect with everything that is needed to perform it, copied out of the state when it is
// dispatched, so that worker threads never look at the state.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "hypotheses/manifest.h"
#include "orchestrator/effects.h"
#include "orchestrator/events.h"
#include "orchestrator/planner.h"
#include "orchestrator/state.h"

namespace orchestrator {

struct OpenNightOrder {
  hypotheses::Campaign campaign;
};
struct CandidateOrder {
  std::string target;
  hypotheses::Hypothesis hypothesis;
  std::shared_ptr<const hypotheses::Manifest> manifest;
};
struct AttemptOrder {
  std::string target;
  hypotheses::Experiment experiment;
  std::shared_ptr<const hypotheses::Manifest> manifest;
  int attempt = 0;
  std::vector<hypotheses::Side> sides;
  std::string sandbox;
  // Whether a side holds code that a planner or a stranger wrote: it gets a folder of its own, so
  // that nothing it builds can reach a later candidate.
  bool base_isolated = false, candidate_isolated = false;
};
// What the attempt asks of Slurm; null when it runs on this machine, as builds always do.
const hypotheses::SlurmResources* slurm_of(const AttemptOrder& order);

struct StopOrder {
  hypotheses::ExperimentId experiment;
};
struct MergeOrder {
  std::string target, base_branch;
  hypotheses::MergeRequest merge;
  hypotheses::Hypothesis winner;
  std::vector<hypotheses::Hypothesis>
      chain;            // the winner's ancestors that come with it, oldest first
  std::string summary;  // of the whole change, for the subject line
  base::Instant time;   // of the commit: fixed, so that a repeat makes the same
};
struct LandOrder {
  std::string target, base_branch;
  hypotheses::MergeRequest merge;
};
struct PlannerOrder {
  std::string target;
  AskPlanner ask;
  PlannerView view;
  policies::Policy policy;
  hypotheses::CommitId tree;  // the incumbent's commit: what edits apply to
};
struct FetchOrder {
  std::string target;
};

struct Order {
  hypotheses::EffectId id;
  std::variant<OpenNightOrder, CandidateOrder, AttemptOrder, StopOrder, MergeOrder, LandOrder,
               PlannerOrder, FetchOrder>
      what;
};

Order order_of(const State& state, const Effect& effect);

// Performs orders on threads of its own and posts a completion for each, once. Idempotent: an order
// that was performed already, before a crash, posts the same completion again.
class Performer {
 public:
  using Post = std::function<void(Completed)>;
  virtual ~Performer() = default;
  virtual void perform(Order order, Post post) = 0;
  // Ends what runs, within seconds, and performs nothing more. What was cut off posts nothing.
  virtual void stop() = 0;
};

}  // namespace orchestrator

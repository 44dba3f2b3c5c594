// Everything that can happen to the loop. Worker threads and people only ever post these.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "hypotheses/types.h"
#include "orchestrator/planner.h"
#include "web/api/ports.h"

namespace orchestrator {

// The daemon came up; the state was folded from the log.
struct Started {
  int pending_effects = 0;
};
// Time passed.
struct Tick {};
// Look whether something can go on; posted by the loop to itself after each change.
struct Advance {};

struct CommandGiven {
  web::Command command;
};

// Completions carry the effect they complete. One whose effect is no longer pending is late or a
// duplicate: it is noted and changes nothing.
// A branch below try/ in the target, with the trailers of its last commit's message.
struct PushedBranch {
  std::string name;  // "try/wider-tiles"
  hypotheses::CommitId tip;
  std::vector<std::pair<std::string, std::string>> trailers;
};
struct NightOpened {
  hypotheses::CommitId base;
  std::string manifest;                         // text of nightshift.yaml in that commit
  std::map<std::string, std::string> settings;  // the knobs' values in that commit
  std::optional<double> copy_rate = {};         // of the machine, where a metric is limited by it
  std::vector<PushedBranch> branches = {};      // all there are
  std::vector<std::string> lacks = {};          // what a checkout of the base will not hold
};
struct CandidateReady {
  hypotheses::CommitId commit;
  std::string branch;
  std::vector<std::string> paths;  // that differ from the base
};
struct AttemptDone {
  std::vector<hypotheses::Run> runs;
};
struct StopDone {};
struct MergeReady {
  hypotheses::CommitId base, merged;
};
struct MergeConflict {
  std::vector<std::string> paths;
};
struct Landed {
  std::string ref;
  std::string instruction;
};
struct BaseMoved {
  hypotheses::CommitId found;
};
struct PlannerAnswered {
  std::optional<Step> step;  // none: nothing usable came back
  std::int64_t tokens = 0;   // spent
  std::vector<hypotheses::PlannerTurn> transcript;
  std::string failure;  // why there is no step
};
struct TargetRead {
  std::vector<PushedBranch> branches;  // all there are
};
// The effect could not be performed. `code` says whose fault it is: bad_input and refused are the
// candidate's or the user's, anything else the machine's.
struct EffectFailed {
  base::Error error;
};

using Completion =
    std::variant<NightOpened, CandidateReady, AttemptDone, StopDone, MergeReady, MergeConflict,
                 Landed, BaseMoved, PlannerAnswered, TargetRead, EffectFailed>;
struct Completed {
  hypotheses::EffectId effect;
  Completion completion;
};

// Something that was done besides and that a person should be able to read later.
struct Remark {
  hypotheses::CampaignId campaign;  // none: of no campaign in particular
  std::string text;
};

using Event = std::variant<Started, Tick, Advance, CommandGiven, Completed, Remark>;

}  // namespace orchestrator

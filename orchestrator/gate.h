// The git side of the loop: nights opened, candidates committed, merges made and landed. Nothing
// else changes a ref of the user's repository.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "orchestrator/orders.h"
#include "orchestrator/target_folder.h"

namespace orchestrator {

class Gate {
 public:
  Gate(TargetFolders& folders, const base::Clock& clock) : folders_(folders), clock_(clock) {}

  base::Result<Completion> open_night(const OpenNightOrder& order);
  // bad_input and refused are the candidate's fault: edits that do not match, protected paths.
  base::Result<Completion> make_candidate(const CandidateOrder& order);
  base::Result<Completion> prepare_merge(const MergeOrder& order);
  base::Result<Completion> land(const LandOrder& order);
  base::Result<Completion> fetch(const FetchOrder& order);

 private:
  TargetFolders& folders_;
  const base::Clock& clock_;
};

}  // namespace orchestrator

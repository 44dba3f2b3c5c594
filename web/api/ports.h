// What the web needs of the daemon: a place to put commands. It reads through store::Reader.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/result.h"
#include "hypotheses/types.h"

namespace web {

struct CreateCampaign {
  hypotheses::Campaign campaign;
  bool start_now = false;
};
struct SetCampaignState {
  hypotheses::CampaignId campaign;
  hypotheses::CampaignState state;
  std::string reason;
};
struct StartNight {
  hypotheses::CampaignId campaign;
};
// A person's hypothesis: claim, knobs or edits or a branch of the target, and a prediction.
struct Propose {
  hypotheses::CampaignId campaign;
  std::string claim;
  hypotheses::Change change;
  hypotheses::Prediction prediction;
  std::string branch;  // of the target, instead of `change`; empty = none
};
// `commit` must be the tested merge commit; empty = whichever is waiting now.
struct Approve {
  hypotheses::MergeRequestId merge;
  hypotheses::CommitId commit;
  std::string who;
};
struct Reject {
  hypotheses::MergeRequestId merge;
  std::string who;
  std::string reason;
};

// Changes nothing: the reply says why a queued hypothesis waits, with its place and its numbers.
struct AskWhy {
  hypotheses::HypothesisId hypothesis;
};

using Command =
    std::variant<CreateCampaign, SetCampaignState, StartNight, Propose, Approve, Reject, AskWhy>;

struct Reply {
  std::string id;    // of what was made or changed: "C-1", "H-7", "M-1"
  std::string text;  // for people: "M-1 approved at 1a2b3c4d5e; landing on main"
};

class CommandInbox {
 public:
  virtual ~CommandInbox() = default;
  // Blocks until the loop has decided on the command and stored the outcome. Thread-safe.
  virtual base::Result<Reply> submit(Command command) = 0;
};

}  // namespace web

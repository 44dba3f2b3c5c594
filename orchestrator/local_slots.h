// Which workspace of a target an attempt on this machine gets. Attempts of two campaigns on one
// target may run at the same time; a workspace belongs to one of them until the attempt is over.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "hypotheses/ids.h"

namespace orchestrator {

class LocalSlots {
 public:
  // Lets the slot go when the last copy goes away. The slots must outlive it.
  using Hold = std::shared_ptr<void>;

  struct Wanted {
    std::string kind;  // the slots are kind-0, kind-1 ...
    int usual = 1;     // how many there are before another is made because all are taken
    hypotheses::ExperimentId owner;
  };
  struct Taken {
    std::string slot;
    Hold hold;
  };

  // Of the slots that no other experiment has: the first that `fits` (holds the build already),
  // else the one that was not used for longest and that is not to be `kept` for the other side.
  using Holds = std::function<bool(const std::string& slot)>;
  Taken take(const Wanted& wanted, const Holds& fits, const Holds& kept);

  // False, and nothing done, while an attempt has the slot.
  bool if_free(const std::string& slot, const std::function<void()>& action);

 private:
  struct Use {
    hypotheses::ExperimentId owner;
    int holders = 0;
    std::int64_t last = 0;
  };

  Hold hold(const std::string& slot, hypotheses::ExperimentId owner);  // mutex_ is held

  std::mutex mutex_;
  std::map<std::string, Use> uses_;  // by slot; guarded by mutex_
  std::int64_t count_ = 0;           // guarded by mutex_
};

}  // namespace orchestrator

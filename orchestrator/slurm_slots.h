// Workspaces of attempts on Slurm. A job may wait in Slurm's queue for hours and read its workspace
// only then, also after a restart of the daemon; so a workspace of Slurm's holds one commit for
// ever and is never switched, only removed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "store/git/worktree_pool.h"

namespace orchestrator {

class SlurmSlots {
 public:
  static inline const std::string kPrefix = "slurm-";

  explicit SlurmSlots(int keep = 32) : keep_(keep) {}

  // Lets the slot go when the last copy goes away. The slots must outlive it.
  using Hold = std::shared_ptr<void>;

  // Keeps the slot from being removed; removes those that were not held for longest while there are
  // more than `keep`. A daemon that starts has forgotten who was held when: then the names decide.
  Hold hold(store::git::WorktreePool& pool, const std::string& slot);

  // Held while a slot is made ready.
  std::mutex& building() { return building_; }

 private:
  struct Use {
    int holders = 0;
    std::int64_t last = 0;
  };

  int keep_;
  std::mutex building_;
  std::mutex mutex_;
  std::map<std::pair<const void*, std::string>, Use> uses_;  // by pool; guarded by mutex_
  std::int64_t count_ = 0;                                   // guarded by mutex_
};

}  // namespace orchestrator

// What the daemon keeps on disk for one target: a mirror and a pool of workspaces, and who uses
// them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "orchestrator/local_slots.h"
#include "store/git/repository.h"
#include "store/git/worktree_pool.h"

namespace orchestrator {

struct TargetFolder {
  store::git::Mirror mirror;
  std::unique_ptr<store::git::WorktreePool> pool;
  std::unique_ptr<LocalSlots> slots = std::make_unique<LocalSlots>();
  std::unique_ptr<std::mutex> fetching = std::make_unique<std::mutex>();  // one fetch at a time
};

// The layout of the state folder is docs/state.md.
class TargetFolders {
 public:
  explicit TargetFolders(std::filesystem::path state) : state_(std::move(state)) {}

  // The folder of a target, created at its first use. Thread-safe; the reference stays valid.
  base::Result<TargetFolder*> of(const std::string& target);

  // The difference of two commits of whichever target holds both, as bounded text.
  base::Result<std::string> diff(const hypotheses::CommitId& base,
                                 const hypotheses::CommitId& candidate);

  const std::filesystem::path& state() const { return state_; }

 private:
  std::filesystem::path state_;
  std::mutex mutex_;
  std::map<std::string, TargetFolder> folders_;  // guarded by mutex_
};

}  // namespace orchestrator

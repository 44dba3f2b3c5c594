// Checkouts that stay: a worktree a slot, switched from commit to commit, with a warm build folder
// beside it. Creating a worktree costs seconds; switching one costs milliseconds, and files that
// do not differ keep their times, so that incremental builds stay warm.
//
//   <root>/<slot>/tree    the checkout
//   <root>/<slot>/build   its build folder, the caller's to fill
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hypotheses/ids.h"
#include "store/git/repository.h"

namespace store::git {

// What happens to files in the tree that the commit's .gitignore hides. Kept, they spare work (a
// package folder in the tree); removed, nothing of an earlier commit's build reaches this one.
enum class Ignored { keep, remove };

struct Workspace {
  std::filesystem::path tree;
  std::filesystem::path build;
  CommitId commit;
  std::string slot;
  std::vector<std::string> warnings;  // what the checkout lacks: submodules
};

// One pool a mirror. Calls from several threads are safe; calls for one slot wait for each other.
// Who may use a slot, and for how long, is for the caller to decide: acquire() takes it at once.
class WorktreePool {
 public:
  WorktreePool(const std::filesystem::path& root, const Mirror& mirror);
  ~WorktreePool();

  // The slot's tree at exactly this commit: modified files restored, untracked ones removed.
  // Creates the slot, or repairs what a killed process left of it.
  Result<Workspace> acquire(std::string_view name, const CommitId& commit,
                            Ignored ignored = Ignored::keep);

  // Removes the build folder. All or nothing: a build folder that is there is whole.
  Status discard_build(std::string_view name);

  // Error, naming files, unless the tree is exactly the workspace's commit (ignored files apart).
  Status verify_clean(const Workspace& workspace);

  // Removes the slot: tree, build folder, and what the mirror knows of it.
  Status remove(std::string_view name);

  // Sorted.
  std::vector<std::string> slots() const;

 private:
  struct Slot;
  Slot& slot_of(std::string_view name);

  std::filesystem::path root_;
  std::filesystem::path mirror_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Slot>, std::less<>> slots_;  // guarded by mutex_
};

}  // namespace store::git

// Making one worktree hold exactly one commit. Private to this folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "store/git/handles.h"
#include "store/git/worktree_pool.h"

namespace store::git {

// What differs between the worktree's index and its files; ignored ones count as untracked where
// they are to be removed.
struct Differences {
  std::vector<std::string> changed;    // modified, of another type, or missing
  std::vector<std::string> untracked;  // files
};
Result<Differences> differences(git_repository* worktree, Ignored ignored);

// Switches files and index to the commit; HEAD is the caller's to set then. Only files that differ
// are written.
Status switch_to(git_repository* worktree, const CommitId& commit, Ignored ignored);

// Error unless HEAD, index and files are the commit's.
Status check_exactly(git_repository* worktree, const CommitId& commit);

// Submodules of the checked-out commit, which stay empty folders.
Result<std::vector<std::string>> submodules(git_repository* worktree);

// Deletes a file or a folder, also where a build has made parts of it read-only. Follows no links.
Status remove_folder(const std::filesystem::path& folder);

}  // namespace store::git

// Copies commits between repositories on one machine. Used in both directions, fetch and land:
// libgit2's local push refuses non-bare repositories, and a pack of exactly what is missing needs
// no temporary ref in the user's repository. Private to this folder.
#pragma once

#include <vector>

#include "store/git/handles.h"

namespace store::git {

// After success `to` holds every commit in `want` with all it needs. `have` are commits that `to`
// is known to hold completely; those that `from` knows too are not sent again. Objects appear in
// `to` all at once (a pack is renamed into place), so a killed copy leaves nothing half there.
Status copy_commits(git_repository* from, git_repository* to, const std::vector<CommitId>& want,
                    const std::vector<CommitId>& have);

}  // namespace store::git

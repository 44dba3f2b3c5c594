// Writing a commit from an index in memory. Private to this folder.
#pragma once

#include <string_view>
#include <vector>

#include "store/git/handles.h"
#include "store/git/message.h"

namespace store::git {

// An index that is on no disk, holding the commit's tree.
Result<Index> index_of(git_repository* repo, const CommitId& commit);

// The commit of the index's tree with these parents; refs/heads/<branch>, where given, is set to
// it. bad_input when the tree is the first parent's and `may_be_empty` is false.
Result<CommitId> write_commit(git_repository* repo, git_index* index,
                              const std::vector<CommitId>& parents, const CommitText& text,
                              std::string_view branch, bool may_be_empty);

}  // namespace store::git

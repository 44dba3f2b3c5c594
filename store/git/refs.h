// References: read, listed, set, and swapped under their lock. Private to this folder.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "store/git/handles.h"

namespace store::git {

inline constexpr const char* kHeads = "refs/heads/";
inline constexpr const char* kTargetHeads = "refs/remotes/target/";

// The commit a direct ref holds; nullopt when there is no such ref, bad_input for a symbolic one
// (moving it would move another branch than the one that was named).
Result<std::optional<CommitId>> ref_tip(git_repository* repo, const std::string& name);

// Refs below a prefix by their name without it; symbolic ones are resolved.
Result<std::map<std::string, CommitId>> refs_below(git_repository* repo, const std::string& prefix);

Status set_ref(git_repository* repo, const std::string& name, const CommitId& id);
Status delete_ref(git_repository* repo, const std::string& name);

// The refs below the prefix ("refs/remotes/target/") become exactly these. Only for a repository of
// our own, and a prefix below which nobody else writes. A reader meanwhile sees each as it was or
// is.
Status replace_refs_below(git_repository* repo, const std::string& prefix,
                          const std::map<std::string, CommitId>& refs);

// Sets the ref to `id` only if it holds `expected` (nullopt: does not exist), compared while the
// ref's lock is held, which git's own commands take too. conflict, naming what was found.
Status swap_ref(git_repository* repo, const std::string& name,
                const std::optional<CommitId>& expected, const CommitId& id,
                const std::string& reason);

}  // namespace store::git

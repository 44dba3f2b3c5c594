// The user's repository, as seen by fetch and land. Private to this folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "store/git/handles.h"

namespace store::git {

inline constexpr const char* kLandedBranch = "nightshift/landed";

// The folder that a local path or a file:// URL names; no other URL gets here (remote.h).
Result<std::filesystem::path> target_path_of(const std::string& path_or_url);

// The repository whose refs count: of a linked worktree, the one it belongs to. Refuses a shallow
// clone, whose history cannot be copied.
Result<Repository> open_target(const std::filesystem::path& path);

// Where a full ref name is in use as somebody's checkout: the main working tree or any linked one,
// also one that is in the middle of a rebase or a bisect of it. nullopt when it is free to move.
std::optional<std::filesystem::path> checked_out_at(git_repository* target, const std::string& ref);

}  // namespace store::git

// A target that is reached over a network: read and pushed to directly, no clone of the user's in
// between. Credentials come from the environment or an ssh agent at the moment they are asked for;
// they are never stored, logged or part of an error. Private to this folder.
#pragma once

#include <map>
#include <string>

#include "store/git/handles.h"

namespace store::git {

// "https://host/x.git", "ssh://host/x.git", "user@host:x.git"; not a path, not file://.
bool is_remote(const std::string& target);

// bad_input for a protocol that is not spoken, and for a URL that holds a password.
Status check_remote(const std::string& url);

// Brings all commits of the remote's branches to the mirror; their tips by name. No ref is set.
Result<std::map<std::string, CommitId>> fetch_heads(git_repository* mirror, const std::string& url);

// Moves the remote's ref from `expected` to `commit`, a descendant of it that the mirror holds;
// conflict, naming the commit found, if it moved, also while the objects were on their way: the
// server compares again under its lock.
Status push_commit(git_repository* mirror, const std::string& url, const std::string& ref,
                   const CommitId& expected, const CommitId& commit);

}  // namespace store::git

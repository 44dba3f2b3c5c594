// Checks of names that come from outside: a planner's paths, a person's branches, slots.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace store::git {

// A branch of ours: "night/...", and valid for git. Nothing else may be created or moved.
base::Status check_night_branch(std::string_view branch);

// Any branch name that git accepts.
base::Status check_branch(std::string_view branch);

// A file of the target: relative, no "..", no ".git" under any spelling, no control characters.
base::Status check_path(std::string_view path);

// A workspace slot: lower case letters, digits and dashes, at most 64, beginning with a letter.
base::Status check_slot(std::string_view slot);

}  // namespace store::git

// Patterns of paths in the manifest and in policies: "kernels/*/{reference,check}*",
// "**/CMakeLists.txt".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hypotheses {

// What is wrong with a pattern, as a message; nothing when it is valid. glob_matches (manifest.h)
// says no to every path for a pattern that is not.
std::optional<std::string> glob_problem(std::string_view pattern);

}  // namespace hypotheses

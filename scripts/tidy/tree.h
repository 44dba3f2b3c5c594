// The sources of a tree as the rules see them; works without git metadata.
#pragma once

#include <filesystem>
#include <vector>

#include "scripts/tidy/code.h"

namespace tidy {

// C++, CUDA, TypeScript, JavaScript and CMake files below the folders of the rules and the root's
// own CMakeLists.txt, sorted by path. Leaves out hidden, build*, node_modules, dist and testdata
// folders.
std::vector<Source> load_tree(const std::filesystem::path& root);

}  // namespace tidy

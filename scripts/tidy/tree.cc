#include "scripts/tidy/tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "scripts/tidy/rules.h"

namespace tidy {
namespace {

namespace fs = std::filesystem;

bool is_left_out(std::string_view folder) {
  return folder.starts_with('.') || folder.starts_with("build") || folder == "node_modules" ||
         folder == "dist" || folder == "testdata";
}

bool is_wanted(const fs::path& path) {
  constexpr std::array<std::string_view, 8> kEndings = {".cc", ".cu",  ".h",  ".cuh",
                                                        ".ts", ".tsx", ".js", ".cmake"};
  return path.filename() == "CMakeLists.txt" ||
         std::find(kEndings.begin(), kEndings.end(), path.extension().string()) != kEndings.end();
}

Source read(const fs::path& root, const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {fs::relative(path, root).generic_string(), text.str()};
}

void add_folder(const fs::path& root, const fs::path& folder, std::vector<Source>& tree) {
  if (!fs::is_directory(folder)) return;
  for (fs::recursive_directory_iterator it(folder), end; it != end; ++it) {
    if (it->is_directory()) {
      if (is_left_out(it->path().filename().string())) it.disable_recursion_pending();
    } else if (it->is_regular_file() && is_wanted(it->path())) {
      tree.push_back(read(root, it->path()));
    }
  }
}

}  // namespace

std::vector<Source> load_tree(const fs::path& root) {
  std::vector<Source> tree;
  if (fs::exists(root / "CMakeLists.txt")) tree.push_back(read(root, root / "CMakeLists.txt"));
  for (std::string_view folder : folders()) add_folder(root, root / folder, tree);
  add_folder(root, root / "cmake", tree);
  std::sort(tree.begin(), tree.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return tree;
}

}  // namespace tidy

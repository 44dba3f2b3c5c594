// The orphan_rule: a source that no build file names, or a header that nobody includes, is a
// leftover.
#include <algorithm>
#include <cstddef>
#include <set>

#include "scripts/tidy/rules.h"

namespace tidy {
namespace {

// A build file: its folder with a slash at the end ("" for the root), and the words in it.
struct BuildFile {
  std::string folder;
  std::set<std::string> words;
};

bool is_build_file(std::string_view path) {
  return path.ends_with("CMakeLists.txt") || path.ends_with(".cmake");
}

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  std::string word;
  bool comment = false;
  for (char c : text) {
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    bool separator = comment || std::string_view(" \t\r\n()\";#").find(c) != std::string_view::npos;
    if (!separator) {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.insert(std::move(word));
  return words;
}

// A .cmake module stands in for the folder that includes it: "kernels/cmake/x.cmake" names sources
// as kernels/CMakeLists.txt does.
BuildFile build_file(const Source& source) {
  std::string folder = source.path.substr(0, source.path.rfind('/') + 1);
  if (source.path.find('/') == std::string::npos) folder.clear();
  if (folder.ends_with("cmake/") && source.path.ends_with(".cmake")) {
    folder.erase(folder.size() - 6);
  }
  return {std::move(folder), words_of(source.text)};
}

// Whether `word` is the path, where each ${variable} stands for anything but a slash.
bool matches(std::string_view word, std::string_view path) {
  std::size_t variable = word.find("${");
  if (variable == std::string_view::npos) return word == path;
  if (!path.starts_with(word.substr(0, variable))) return false;
  std::size_t close = word.find('}', variable);
  if (close == std::string_view::npos) return false;
  for (std::size_t end = variable; end <= path.size(); ++end) {
    if (matches(word.substr(close + 1), path.substr(end))) return true;
    if (end < path.size() && path[end] == '/') return false;
  }
  return false;
}

bool names(const BuildFile& file, std::string_view path) {
  if (!path.starts_with(file.folder)) return false;
  std::string_view relative = path.substr(file.folder.size());
  return std::any_of(file.words.begin(), file.words.end(), [&](std::string_view word) {
    // A word that is all variable would match everything.
    for (std::string_view root : {"${CMAKE_SOURCE_DIR}/", "${PROJECT_SOURCE_DIR}/",
                                  "${CMAKE_CURRENT_SOURCE_DIR}/", "${CMAKE_CURRENT_LIST_DIR}/"}) {
      if (word.starts_with(root)) {
        std::string_view rest = word.substr(root.size());
        return matches(rest, relative) || matches(rest, path);
      }
    }
    return is_unit(word) && matches(word, relative);
  });
}

}  // namespace

std::vector<Violation> orphan_rule(const std::vector<Source>& tree) {
  std::vector<BuildFile> files;
  std::set<std::string, std::less<>> included;
  for (const Source& source : tree) {
    if (is_build_file(source.path)) {
      files.push_back(build_file(source));
      continue;
    }
    const Code code(source);
    for (const Line& line : code.lines()) {
      std::string_view path = include_of(line).path;
      if (!path.empty() && path != source.path) included.emplace(path);
    }
  }
  std::vector<Violation> violations;
  for (const Source& source : tree) {
    if (is_unit(source.path) &&
        std::none_of(files.begin(), files.end(),
                     [&](const BuildFile& file) { return names(file, source.path); })) {
      violations.push_back({source.path, 1, "orphan",
                            "no CMakeLists.txt names it; add it to its folder's, or delete it"});
    }
    if (is_header(source.path) && !included.contains(source.path)) {
      violations.push_back({source.path, 1, "orphan",
                            "no other file includes it (by its path from the root); use it, or "
                            "delete it"});
    }
  }
  return violations;
}

}  // namespace tidy

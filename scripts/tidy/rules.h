// The house rules, each a function from a source to what breaks it. CONTRIBUTING.md says them in
// prose; the tests beside this file plant a violation of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scripts/tidy/code.h"

namespace tidy {

struct Violation {
  std::string path;
  int line = 0;
  std::string rule;
  std::string text;  // what is wrong and what to do
};
std::string to_text(const Violation& violation);  // "store/x.cc:12: [include] ..."
std::string to_text(const std::vector<Violation>& violations);

// Who may include whom, and from the repository's root only.
std::vector<Violation> include_rule(const Source& source);

// Where each third-party library with a house of its own may be included.
std::vector<Violation> third_party_rule(const Source& source);

// 400 lines a file, unless a `size:` sentence in its first lines says why not.
std::vector<Violation> file_size_rule(const Source& source);

// 70 lines a function, unless a `size:` sentence on its first line or the line above says why not.
std::vector<Violation> function_size_rule(const Source& source);

// No wall clock, unseeded randomness, sleep or detached thread outside base/, kernels/, serving/.
std::vector<Violation> banned_call_rule(const Source& source);

// No tabs, no paths of somebody's machine, `#pragma once` in every header.
std::vector<Violation> text_rule(const Source& source);

// Every .cc and .cu is named in a CMakeLists.txt; every header is included by another file.
std::vector<Violation> orphan_rule(const std::vector<Source>& tree);

// The folders that the rules know, leaf first.
std::vector<std::string_view> folders();

}  // namespace tidy

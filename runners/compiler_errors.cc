// The first error in a build's output, of compilers (GCC, Clang, nvcc), linkers, CMake and build
// tools.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "runners/adapter_parts.h"

namespace runners {
namespace {

bool has(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

// Ends in ":12" or "(12)", as the name of a tool ("collect2") does not.
bool is_place(std::string_view text) {
  if (text.ends_with(')')) return true;
  auto last = text.find_last_not_of("0123456789");
  return last != std::string_view::npos && last + 1 < text.size() && text[last] == ':';
}

// "file:12:3: error: ..." or "file(12): error ...": a place in front of the word.
bool is_compiler_error(std::string_view line) {
  for (std::string_view word : {": error: ", ": fatal error: ", ": Error: ", ": error #"}) {
    auto place = line.find(word);
    if (place != std::string_view::npos && is_place(line.substr(0, place))) return true;
  }
  return false;
}

bool is_linker_error(std::string_view line) {
  return has(line, "undefined reference to") || has(line, "multiple definition of") ||
         has(line, "ld: cannot find") || has(line, "undefined symbol:") || has(line, "ld: error:");
}

bool is_cmake_error(std::string_view line) { return line.starts_with("CMake Error"); }

// Says that something failed, not what.
bool is_tool_error(std::string_view line) {
  return has(line, "error: ") || line.starts_with("ninja: ") || has(line, "*** ") ||
         line.starts_with("FAILED: ");
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// CMake writes its message on the indented lines below the place.
std::string cmake_message(const std::vector<std::string_view>& lines, std::size_t at) {
  std::string text(lines[at]);
  for (std::size_t i = at + 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    if (lines[i][0] != ' ') break;
    text += ' ';
    text += lines[i].substr(lines[i].find_first_not_of(' ') == std::string_view::npos
                                ? lines[i].size()
                                : lines[i].find_first_not_of(' '));
  }
  return clean_text(text);
}

}  // namespace

std::string first_compiler_error(std::string_view output) {
  // Colours would sit between the place and the word.
  std::vector<std::string> cleaned;
  for (auto line : lines_of(output)) cleaned.push_back(clean_text(line, 1000));
  std::vector<std::string_view> lines(cleaned.begin(), cleaned.end());
  // The most telling kind first: a build tool's complaint is only the echo of a compiler's.
  for (auto is_error : {is_compiler_error, is_linker_error, is_cmake_error, is_tool_error}) {
    auto line = std::find_if(lines.begin(), lines.end(), is_error);
    if (line == lines.end()) continue;
    if (is_error == is_cmake_error) {
      return cmake_message(lines, static_cast<std::size_t>(line - lines.begin()));
    }
    return clean_text(*line);
  }
  return "";
}

}  // namespace runners

// What yaml.cc and yaml_edit.cc share: a parsed document as a flat list of nodes. Only for this
// folder.
//
// The nodes refer to each other by index into one list, so that neither a chain of aliases nor a
// hostile depth can make a recursion (also no recursive destructor).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hypotheses/yaml.h"

namespace hypotheses {

inline constexpr std::size_t kMaxYamlBytes = 1 << 20;
inline constexpr std::size_t kMaxYamlDepth = 64;
inline constexpr std::size_t kMaxMistakes = 100;  // of one file; more help nobody

struct YamlEntry {
  std::string key;
  std::size_t key_position = 0;  // byte offset in the text
  std::size_t value = 0;         // index of its node
  bool alias = false;            // the value is written as *name
};

struct YamlTreeNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::size_t position = 0;  // byte offset of the value, behind its anchor and tag
  bool decorated = false;    // it has an anchor or a tag
  std::string text;          // of a scalar, as YAML reads it
  std::vector<std::size_t> items;
  std::vector<YamlEntry> entries;                         // in file order
  std::map<std::string, std::size_t, std::less<>> index;  // key -> position in entries
};

struct YamlSource {
  std::string file;
  std::string text;                 // without a byte order mark
  std::vector<YamlTreeNode> nodes;  // node 0 is the root; empty when the text could not be parsed
  std::vector<std::size_t> line_starts;
  std::vector<Mistake> mistakes;  // in the order of their places, no two alike

  void report(std::size_t position, std::string message);
};

std::shared_ptr<YamlSource> parse_yaml(std::string_view text, std::string file);

// The end (one behind) of the quoted scalar that starts at `position`; npos when it never ends.
std::size_t end_of_quoted(std::string_view text, std::size_t position);

}  // namespace hypotheses

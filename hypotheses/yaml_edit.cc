// Reading and replacing one scalar of a YAML text in place: comments, layout and line ends stay.
#include <cstdio>
#include <optional>

#include "hypotheses/nearest.h"
#include "hypotheses/yaml.h"
#include "hypotheses/yaml_tree.h"

namespace hypotheses {
namespace {

using base::ErrorCode;

struct Located {
  std::shared_ptr<YamlSource> source;
  std::size_t node = 0;
  bool through_alias = false;
};

// The entry of `map`'s key, if `map` is a map that has it.
const YamlEntry* entry_of(const YamlSource& source, std::size_t map, std::string_view key) {
  const YamlTreeNode& node = source.nodes[map];
  const auto place = node.index.find(key);
  return place == node.index.end() ? nullptr : &node.entries[place->second];
}

// The key as it stands wins over the path of the same name.
std::optional<Located> locate(const std::shared_ptr<YamlSource>& source, std::string_view key) {
  if (const YamlEntry* entry = entry_of(*source, 0, key))
    return Located{source, entry->value, entry->alias};
  Located located{source, 0, false};
  for (;;) {
    const std::size_t dot = key.find('.');
    const YamlEntry* entry = entry_of(*source, located.node, key.substr(0, dot));
    if (!entry) return {};
    located.node = entry->value;
    located.through_alias |= entry->alias;
    if (dot == std::string_view::npos) return located;
    key.remove_prefix(dot + 1);
  }
}

base::Result<Located> find_scalar(std::string_view text, std::string_view key,
                                  std::string_view file) {
  auto source = parse_yaml(text, std::string(file));
  if (!source->mistakes.empty())
    return base::fail(ErrorCode::bad_input, to_text(source->mistakes));  // names the file
  std::optional<Located> located = locate(source, key);
  if (!located) {
    return base::fail(ErrorCode::not_found,
                      "no key " + shown(key) + ", neither as it stands nor as a path of maps",
                      std::string(file));
  }
  if (source->nodes[located->node].kind != YamlTreeNode::Kind::scalar) {
    return base::fail(ErrorCode::bad_input, "expected a single value at " + shown(key),
                      std::string(file));
  }
  return *located;
}

// One behind the scalar's last byte, if it stands on one line and as itself.
std::optional<std::size_t> end_of_scalar(const YamlSource& source, const YamlTreeNode& node) {
  const std::string_view text = source.text;
  const char first = node.position < text.size() ? text[node.position] : '\0';
  if (first == '"' || first == '\'') {
    const std::size_t end = end_of_quoted(text, node.position);
    const bool one_line =
        text.substr(node.position, end - node.position).find('\n') == std::string_view::npos;
    return one_line ? std::optional(end) : std::nullopt;
  }
  const bool as_read = text.substr(node.position).starts_with(node.text);
  return as_read && !node.text.empty() ? std::optional(node.position + node.text.size())
                                       : std::nullopt;
}

std::string single_quoted(std::string_view value) {
  std::string text = "'";
  for (char c : value) text += c == '\'' ? std::string("''") : std::string(1, c);
  return text + "'";
}

std::string double_quoted(std::string_view value) {
  std::string text = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned>(c));
      text += escape;
    } else {
      text += c;
    }
  }
  return text + "\"";
}

// True when `text` reads as `before` does, but for the value of one node.
bool differs_only_in(const YamlSource& before, std::string_view text, std::size_t node,
                     std::string_view value) {
  const auto after = parse_yaml(text, before.file);
  if (!after->mistakes.empty() || after->nodes.size() != before.nodes.size()) return false;
  for (std::size_t i = 0; i < before.nodes.size(); ++i) {
    const YamlTreeNode &old_node = before.nodes[i], &new_node = after->nodes[i];
    if (old_node.kind != new_node.kind || old_node.items != new_node.items) return false;
    if (old_node.entries.size() != new_node.entries.size()) return false;
    for (std::size_t k = 0; k < old_node.entries.size(); ++k) {
      const YamlEntry &old_entry = old_node.entries[k], &new_entry = new_node.entries[k];
      if (old_entry.key != new_entry.key || old_entry.value != new_entry.value) return false;
    }
    if (new_node.text != (i == node ? value : std::string_view(old_node.text))) return false;
  }
  return true;
}

}  // namespace

base::Result<std::string> get_scalar(std::string_view text, std::string_view key,
                                     std::string_view file) {
  NS_ASSIGN(located, find_scalar(text, key, file));
  return located.source->nodes[located.node].text;
}

base::Result<std::string> set_scalar(std::string_view text, std::string_view key,
                                     std::string_view value, std::string_view file) {
  NS_ASSIGN(located, find_scalar(text, key, file));
  const YamlSource& source = *located.source;
  const YamlTreeNode& node = source.nodes[located.node];
  if (located.through_alias || node.decorated) {
    return base::fail(ErrorCode::bad_input,
                      "the value of " + shown(key) +
                          " stands behind an anchor, an alias or a tag; write it out in the file",
                      std::string(file));
  }
  const std::optional<std::size_t> end = end_of_scalar(source, node);
  if (!end) {
    return base::fail(ErrorCode::bad_input,
                      "the value of " + shown(key) + " is not written on one line; rewrite it so",
                      std::string(file));
  }
  const char first = source.text[node.position];
  const std::string plain = first == '\''  ? single_quoted(value)
                            : first == '"' ? double_quoted(value)
                                           : std::string(value);
  for (const std::string& written : {plain, double_quoted(value)}) {
    std::string edited = source.text;
    edited.replace(node.position, *end - node.position, written);
    if (!differs_only_in(source, edited, located.node, value)) continue;
    // A byte order mark was cut off before the first position.
    return std::string(text.substr(0, text.size() - source.text.size())) + edited;
  }
  return base::fail(ErrorCode::bad_input,
                    "the value " + shown(value) + " cannot be written at " + shown(key),
                    std::string(file));
}

}  // namespace hypotheses

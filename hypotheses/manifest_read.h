// How parse_manifest() is cut: reading of the parts, then checks across them. Only for this folder.
// Every function reports into the node's document; what it returns is good for further checks even
// if it reported something.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hypotheses/manifest.h"
#include "hypotheses/yaml.h"

namespace hypotheses {

inline constexpr std::size_t kMaxCombinations = 64;  // of one probe's conditions
inline constexpr std::size_t kMaxSpans = 64;         // that a timeline tells apart

// Letters, digits, '_', '.' and '-', a letter or '_' first: what can stand between braces.
bool is_name(std::string_view text);

// A command as one text (split at spaces, with quotes) or as a list of arguments.
std::vector<std::string> read_command(const YamlNode& node);
std::vector<std::string> read_texts(const YamlNode& node);  // a list of scalars
double read_timeout(const YamlNode& node, double otherwise);

Knob read_knob(const std::string& name, const YamlNode& node);
Probe read_probe(const std::string& name, const YamlNode& node);
Resources read_resources(const YamlNode& node);
void check_slurm_time(const YamlNode& slurm, const Probe& probe);

// Whatever needs more than one part: metrics that nobody emits, placeholders, covered knobs, ...
void check_manifest(const YamlNode& root, const Manifest& manifest);

}  // namespace hypotheses

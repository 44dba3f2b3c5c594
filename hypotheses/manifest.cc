#include "hypotheses/manifest.h"

#include <algorithm>
#include <optional>

#include "hypotheses/glob.h"
#include "hypotheses/manifest_read.h"
#include "hypotheses/nearest.h"

namespace hypotheses {
namespace {

constexpr std::string_view kKnobPrefix = "knob:";

MetricKey read_goal(const YamlNode& node) {
  MetricKey goal;
  node.keys({"metric", "conditions"});
  if (auto metric = node.required("metric").text()) goal.metric = *metric;
  const YamlNode conditions = node.at("conditions");
  if (!conditions.present()) return goal;
  for (const std::string& name : conditions.keys())
    if (auto value = conditions.at(name).text()) goal.conditions[name] = *value;
  return goal;
}

std::vector<Guard> read_guards(const YamlNode& node) {
  std::vector<Guard> guards;
  if (!node.present()) return guards;
  for (const std::string& metric : node.keys()) {
    Guard guard{metric, Guard{}.margin};
    if (const std::optional<double> margin = node.at(metric).fraction()) {
      guard.margin = *margin;
      if (!(*margin > 0 && *margin <= 1)) {
        node.at(metric).mistake(
            "a guard's margin lies above 0% and at most at 100%; write 5% for five per cent");
      }
    }
    guards.push_back(guard);
  }
  return guards;
}

std::vector<std::string> read_protected(const YamlNode& node) {
  std::vector<std::string> globs;
  if (!node.present()) return globs;
  for (const YamlNode& item : node.items()) {
    const std::optional<std::string> glob = item.text();
    if (!glob) continue;
    if (auto problem = glob_problem(*glob)) item.mistake(*problem + "; found " + shown(*glob));
    globs.push_back(*glob);
  }
  return globs;
}

// What git accepts as the name of a branch, less its rarer corners.
bool is_branch_name(std::string_view name) {
  if (name.empty() || name.front() == '-' || name.front() == '/' || name.back() == '/' ||
      name.back() == '.' || name.ends_with(".lock"))
    return false;
  for (std::string_view bad : {"..", "//", "@{", "/."})
    if (name.find(bad) != std::string_view::npos) return false;
  return name.front() != '.' && std::none_of(name.begin(), name.end(), [](unsigned char c) {
           return c <= 0x20 || c == 0x7f ||
                  std::string_view("~^:?*[\\").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

void read_head(const YamlNode& root, Manifest& manifest) {
  const YamlNode version = root.required("version");
  const std::optional<long> number = version.integer();
  if (number && *number != 1)
    version.mistake("this Nightshift reads version 1; found version " + std::to_string(*number));
  const YamlNode name = root.required("name");
  if (auto text = name.text()) {
    manifest.name = *text;
    if (text->empty()) name.mistake("expected a name for the target; found an empty text");
  }
  const YamlNode branch = root.required("base");
  if (auto text = branch.text()) {
    manifest.base = *text;
    if (!is_branch_name(*text))
      branch.mistake("expected the name of a branch; found " + shown(*text));
  }
}

Manifest read_parts(const YamlNode& root) {
  Manifest manifest;
  root.keys({"version", "name", "base", "goal", "guards", "protected", "build", "build_timeout",
             "knobs", "probes"});
  read_head(root, manifest);
  manifest.goal = read_goal(root.required("goal"));
  manifest.guards = read_guards(root.at("guards"));
  manifest.protected_paths = read_protected(root.at("protected"));
  const YamlNode build = root.at("build");
  for (const YamlNode& command : build.items()) manifest.build.push_back(read_command(command));
  manifest.build_timeout_s = read_timeout(root.at("build_timeout"), manifest.build_timeout_s);
  const YamlNode knobs = root.at("knobs");
  for (const std::string& name : knobs.keys()) {
    if (!is_name(name)) knobs.mistake_at_key(name, "a knob's name has letters, digits, _ . - only");
    manifest.knobs[name] = read_knob(name, knobs.at(name));
  }
  const YamlNode probes = root.required("probes");
  for (const std::string& name : probes.keys())
    manifest.probes[name] = read_probe(name, probes.at(name));
  return manifest;
}

// A condition with one value goes without saying; the key then equals the one that is observed.
void complete_goal(Manifest& manifest) {
  for (const auto& [name, probe] : manifest.probes) {
    if (!probe.metrics.contains(manifest.goal.metric)) continue;
    for (const auto& [condition, values] : probe.conditions)
      if (values.size() == 1) manifest.goal.conditions.emplace(condition, values[0]);
  }
}

// The path without "." and ".."; nothing when it leaves the target.
std::optional<std::string> plain_path(std::string_view path) {
  if (path.starts_with('/')) return {};
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return {};
    } else {
      parts.pop_back();
    }
  }
  std::string plain;
  for (std::string_view part : parts) plain += (plain.empty() ? "" : "/") + std::string(part);
  return plain;
}

}  // namespace

const Metric* Manifest::metric(std::string_view name) const {
  for (const auto& [probe_name, probe] : probes) {
    const auto found = probe.metrics.find(std::string(name));
    if (found != probe.metrics.end()) return &found->second;
  }
  return nullptr;
}

bool Manifest::is_protected(std::string_view path) const {
  const std::optional<std::string> plain = plain_path(path);
  if (!plain || *plain == kManifestFile) return true;
  return std::any_of(protected_paths.begin(), protected_paths.end(),
                     [&](const std::string& glob) { return glob_matches(glob, *plain); });
}

ManifestOutcome parse_manifest(std::string_view text, std::string file) {
  const YamlDocument document = YamlDocument::parse(text, std::move(file));
  ManifestOutcome outcome;
  const YamlNode root = document.root();
  if (root.present() && !root.is_map()) root.keys();  // reports it, once
  if (root.is_map()) {
    Manifest manifest = read_parts(root);
    check_manifest(root, manifest);
    complete_goal(manifest);
    if (document.mistakes().empty()) outcome.manifest = std::move(manifest);
  }
  outcome.mistakes = document.mistakes();
  return outcome;
}

base::Result<Manifest> read_manifest(std::string_view text, std::string file) {
  ManifestOutcome outcome = parse_manifest(text, std::move(file));
  if (!outcome.manifest) return base::fail(base::ErrorCode::bad_input, to_text(outcome.mistakes));
  return std::move(*outcome.manifest);
}

std::vector<Conditions> combinations(const Probe& probe) {
  std::vector<Conditions> all = {{}};
  for (const auto& [name, values] : probe.conditions) {
    std::vector<Conditions> longer;
    for (const Conditions& shorter : all) {
      for (const std::string& value : values) {
        longer.push_back(shorter);
        longer.back()[name] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

bool covers(const Probe& probe, const std::vector<std::string>& paths,
            const std::vector<std::string>& knobs) {
  return covers(probe.covers, paths, knobs);
}

bool covers(const std::vector<std::string>& globs, const std::vector<std::string>& paths,
            const std::vector<std::string>& knobs) {
  const auto any = [](std::string_view glob, const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return glob_matches(glob, name); });
  };
  for (std::string_view entry : globs) {
    const bool knob = entry.starts_with(kKnobPrefix);
    if (knob ? any(entry.substr(kKnobPrefix.size()), knobs) : any(entry, paths)) return true;
  }
  return false;
}

}  // namespace hypotheses

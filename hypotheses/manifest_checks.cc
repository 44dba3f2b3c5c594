// The checks of a manifest that look at more than one of its parts.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "hypotheses/arguments.h"
#include "hypotheses/glob.h"
#include "hypotheses/manifest_read.h"
#include "hypotheses/nearest.h"

namespace hypotheses {
namespace {

using Names = std::vector<std::string_view>;

constexpr std::string_view kKnobEntry = "knob:";
constexpr std::string_view kOwnPlaceholders[] = {"build", "tree", "scratch", "seed"};

Names names_of_metrics(const Manifest& manifest) {
  Names names;
  for (const auto& [probe_name, probe] : manifest.probes)
    for (const auto& [name, metric] : probe.metrics) names.push_back(name);
  return names;
}

const Probe* probe_that_emits(const Manifest& manifest, std::string_view metric) {
  for (const auto& [name, probe] : manifest.probes)
    if (probe.metrics.contains(std::string(metric))) return &probe;
  return nullptr;
}

void check_unique_metrics(const YamlNode& probes) {
  std::map<std::string, std::string> owner;
  for (const std::string& probe : probes.keys()) {
    const YamlNode metrics = probes.at(probe).at("metrics");
    if (!metrics.is_map()) continue;
    for (const std::string& metric : metrics.keys()) {
      const auto [place, fresh] = owner.emplace(metric, probe);
      if (!fresh)
        metrics.mistake_at_key(metric, "the metric " + shown(metric) + " is emitted by the probe " +
                                           shown(place->second) + " already");
    }
  }
}

// The goal names one number: every condition of its probe that has more than one value is given.
void check_goal(const YamlNode& goal, const Manifest& manifest) {
  if (manifest.goal.metric.empty()) return;
  const Probe* probe = probe_that_emits(manifest, manifest.goal.metric);
  if (!probe) {
    goal.at("metric").mistake("no probe emits the goal metric " + shown(manifest.goal.metric) +
                              did_you_mean(manifest.goal.metric, names_of_metrics(manifest)));
    return;
  }
  const YamlNode given = goal.at("conditions");
  for (const auto& [name, value] : manifest.goal.conditions) {
    const auto known = probe->conditions.find(name);
    if (known == probe->conditions.end()) {
      given.mistake_at_key(name,
                           "the probe " + shown(probe->name) + " has no condition " + shown(name));
    } else if (std::find(known->second.begin(), known->second.end(), value) ==
               known->second.end()) {
      given.at(name).mistake("the probe " + shown(probe->name) + " never runs with " +
                             to_text(Conditions{{name, value}}));
    }
  }
  for (const auto& [name, values] : probe->conditions) {
    if (values.size() > 1 && !manifest.goal.conditions.contains(name))
      goal.mistake("the goal must say in which '" + name + "' of the probe " + shown(probe->name) +
                   " it is judged; add it to its conditions");
  }
}

void check_guards(const YamlNode& guards, const Manifest& manifest) {
  for (const Guard& guard : manifest.guards) {
    if (probe_that_emits(manifest, guard.metric)) continue;
    guards.mistake_at_key(guard.metric, "no probe emits the guarded metric " + shown(guard.metric) +
                                            did_you_mean(guard.metric, names_of_metrics(manifest)));
  }
}

void check_placeholders(const YamlNode& command, const std::vector<std::string>& argv,
                        const Names& known) {
  for (const std::string& name : placeholders(argv)) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (std::string_view each : known)
      list += (list.empty() ? "{" : ", {") + std::string(each) + "}";
    const std::string hint = did_you_mean(name, known);
    command.mistake("unknown placeholder {" + name + "}" +
                    (hint.empty() ? "; known are " + list : hint));
  }
}

// In a run: the daemon's own, the probe's conditions, and the knobs whose value is known at launch.
void check_run(const YamlNode& node, const Probe& probe, const Manifest& manifest) {
  Names known(std::begin(kOwnPlaceholders), std::end(kOwnPlaceholders));
  for (const auto& [name, knob] : manifest.knobs)
    if (knob.when == KnobTime::launch) known.push_back(name);
  for (const auto& [name, values] : probe.conditions) {
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      node.at("conditions")
          .mistake_at_key(name,
                          "the condition " + shown(name) +
                              " hides a placeholder or a launch-time knob of that name; rename it");
    }
    known.push_back(name);
  }
  check_placeholders(node.at("run"), probe.run, known);
  const YamlNode build = node.at("build");
  const std::vector<YamlNode> steps = build.is_list() ? build.items() : std::vector<YamlNode>();
  for (std::size_t i = 0; i < steps.size() && i < probe.build.size(); ++i)
    check_placeholders(steps[i], probe.build[i], {"build", "tree"});
  if (manifest.build.empty() && !probe.build.empty()) {
    build.mistake("a probe's build goes on from the manifest's, which has no build commands");
  }
  const std::vector<std::string> used = placeholders(probe.run);
  if (manifest.build.empty() && std::find(used.begin(), used.end(), "build") != used.end())
    node.at("run").mistake("{build} is empty: the manifest has no build commands");
  for (const auto& [name, values] : probe.conditions) {
    if (values.size() > 1 && std::find(used.begin(), used.end(), name) == used.end()) {
      node.at("conditions")
          .mistake_at_key(
              name, "the command never uses {" + name + "}: all its values would measure the same");
    }
  }
}

// A list of what is covered: globs of paths, and "knob:<glob>".
void check_covers(const YamlNode& covers, const Manifest& manifest) {
  if (!covers.is_list()) return;
  for (const YamlNode& item : covers.items()) {
    if (!item.is_scalar()) continue;
    const std::string entry = *item.text();
    const bool knob = entry.starts_with(kKnobEntry);
    const std::string glob = knob ? entry.substr(kKnobEntry.size()) : entry;
    if (auto problem = glob_problem(glob)) {
      item.mistake(*problem + "; found " + shown(entry));
      continue;
    }
    if (!knob) continue;
    const bool any =
        std::any_of(manifest.knobs.begin(), manifest.knobs.end(),
                    [&](const auto& named) { return glob_matches(glob, named.first); });
    if (!any) item.mistake(shown(entry) + " covers no knob of this manifest");
  }
}

// A timeline explains one metric, in conditions in which that metric is measured too, and no other
// timeline explains it: else the two could disagree.
void check_timeline(const YamlNode& node, const Probe& probe, const Manifest& manifest) {
  if (probe.shows.empty()) return;
  const YamlNode spans = node.at("spans");
  if (spans.is_map())
    for (const std::string& span : spans.keys()) check_covers(spans.at(span), manifest);
  const Probe* shown_by = probe_that_emits(manifest, probe.shows);
  if (!shown_by) {
    node.at("shows").mistake("no probe emits the metric " + shown(probe.shows) +
                             did_you_mean(probe.shows, names_of_metrics(manifest)));
    return;
  }
  for (const auto& [name, other] : manifest.probes) {
    if (name < probe.name && other.shows == probe.shows)
      node.at("shows").mistake("the probe " + shown(name) + " shows the metric " +
                               shown(probe.shows) + " already");
  }
  const YamlNode conditions = node.at("conditions");
  for (const auto& [name, values] : probe.conditions) {
    const auto known = shown_by->conditions.find(name);
    if (known == shown_by->conditions.end()) {
      conditions.mistake_at_key(name, "the probe " + shown(shown_by->name) + " of the metric " +
                                          shown(probe.shows) + " has no condition " + shown(name));
      continue;
    }
    for (const std::string& value : values) {
      const auto& all = known->second;
      if (std::find(all.begin(), all.end(), value) == all.end())
        conditions.at(name).mistake("the probe " + shown(shown_by->name) + " of the metric " +
                                    shown(probe.shows) + " never runs with " +
                                    to_text(Conditions{{name, value}}));
    }
  }
}

void check_probes(const YamlNode& probes, const Manifest& manifest) {
  if (probes.is_map() && manifest.probes.empty()) probes.mistake("expected at least one probe");
  for (const auto& [name, probe] : manifest.probes) {
    const YamlNode node = probes.at(name);
    if (name == kBuildProbe)
      probes.mistake_at_key(name, "the name 'build' is taken by the manifest's build commands");
    if (!node.is_map()) continue;
    check_run(node, probe, manifest);
    check_covers(node.at("covers"), manifest);
    check_timeline(node, probe, manifest);
  }
}

// Protected paths are overlaid from the base commit: a knob in one could never take effect.
void check_knobs(const YamlNode& knobs, const Manifest& manifest) {
  for (const auto& [name, knob] : manifest.knobs) {
    if (knob.file.empty() || !manifest.is_protected(knob.file)) continue;
    knobs.at(name).at("file").mistake(
        "the knob's file " + shown(knob.file) +
        " is protected, so no value but the base's would ever be used");
  }
}

}  // namespace

void check_manifest(const YamlNode& root, const Manifest& manifest) {
  const YamlNode build = root.at("build");
  if (build.is_list()) {
    const std::vector<YamlNode> commands = build.items();
    for (std::size_t i = 0; i < commands.size() && i < manifest.build.size(); ++i)
      check_placeholders(commands[i], manifest.build[i], {"build", "tree"});
  }
  check_knobs(root.at("knobs"), manifest);
  const YamlNode probes = root.at("probes");
  if (!probes.is_map()) return;  // reported; without probes nothing emits any metric
  check_probes(probes, manifest);
  check_unique_metrics(probes);
  check_goal(root.at("goal"), manifest);
  check_guards(root.at("guards"), manifest);
}

}  // namespace hypotheses

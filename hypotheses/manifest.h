// nightshift.yaml: what a target offers to be measured (docs/manifest.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hypotheses/types.h"
#include "hypotheses/yaml.h"

namespace hypotheses {

inline constexpr std::string_view kManifestFile = "nightshift.yaml";
inline constexpr std::string_view kBuildProbe = "build";  // reserved: the manifest's build commands

enum class KnobTime { build, launch };

struct Knob {
  std::string name;
  std::string file;  // relative to the target's root
  std::string key;   // in that YAML file
  KnobTime when = KnobTime::build;
  std::vector<std::string> choices;  // at least two, in the manifest's order
  std::vector<std::string> tags;
};

// Where a metric's value stands in a probe's output.
struct MetricSource {
  std::string benchmark;  // google-benchmark: name before the first '/'; hyperfine: command name
  std::string field;  // google-benchmark: real_time, cpu_time or a counter; hyperfine: median...
};

// The best value that the machine's physics allows: a rate above it, or a time below it, is a
// mistake of the measurement. Either a number in the metric's unit, or the rate at which the
// machine was seen to copy memory.
struct Limit {
  double value = 0;
  bool is_copy_rate = false;
};

struct Metric {
  std::string name;
  Better better = Better::lower;
  std::string unit;
  bool exact = false;  // a counter without noise: one pair decides
  MetricSource from;   // unused by the nightshift format, which names its metrics itself
  std::optional<Limit> limit = {};
};

// Bytes per second in a unit like "B/s", "MB/s" or "GiB/s"; nothing for any other unit.
std::optional<double> bytes_per_s(std::string_view unit);

// What a run asks of a Slurm cluster (docs/slurm.md). An empty text is the cluster's default.
struct SlurmResources {
  std::string partition, constraint, gres, account, qos;
  double time_s = 0;      // wall time asked for; 0 = both runs at their limits, and a minute
  double wait_s = 0;      // in the queue, after which it is given up; 0 = as long as it takes
  bool exclusive = true;  // a node for itself: what else runs there disturbs a measurement
};

struct Resources {
  int cores = 1;
  int gpus = 0;
  std::optional<SlurmResources> slurm = {};  // there: it runs on Slurm, not on this machine
};

struct Probe {
  std::string name;
  ProbeKind answers = ProbeKind::speed;
  Layer layer = Layer::kernel;
  std::vector<std::string> covers;              // globs of paths, or "knob:<glob>"
  std::vector<std::string> run;                 // argument vector with {placeholders}
  std::vector<std::vector<std::string>> build;  // what it needs beyond the manifest's build
  std::map<std::string, std::vector<std::string>> conditions;  // name -> values; product = variants
  Format format = Format::nightshift;
  std::map<std::string, Metric> metrics;
  // Of the format chrome-trace alone. A pattern of span names -> what such a span stands for: globs
  // of paths, or "knob:<glob>".
  std::map<std::string, std::vector<std::string>> spans;
  std::string shows;               // the metric whose time the trace divides
  std::vector<std::string> waits;  // patterns of the spans in which a lane only waits
  Resources resources;
  double timeout_s = 60;
};

struct Guard {
  std::string metric;
  double margin = 0.05;  // fraction by which it may get worse
};

struct Manifest {
  std::string name;
  std::string base;  // branch
  MetricKey goal;
  std::vector<Guard> guards;
  std::vector<std::string> protected_paths;     // globs
  std::vector<std::vector<std::string>> build;  // argument vectors with {build}
  double build_timeout_s = 600;
  std::map<std::string, Knob> knobs;
  std::map<std::string, Probe> probes;

  const Metric* metric(std::string_view name) const;  // of whichever probe emits it
  bool is_protected(std::string_view path) const;
};

struct ManifestOutcome {
  std::optional<Manifest> manifest;  // none when there is any mistake
  std::vector<Mistake> mistakes;
};
ManifestOutcome parse_manifest(std::string_view text, std::string file);

// The manifest, or one error that lists all mistakes.
base::Result<Manifest> read_manifest(std::string_view text, std::string file);

// All combinations of a probe's conditions, in the manifest's order; one empty for none.
std::vector<Conditions> combinations(const Probe& probe);

// True when the probe covers a changed path or a changed knob. "**" crosses folders, "*" does not,
// {a,b} are alternatives.
bool covers(const Probe& probe, const std::vector<std::string>& paths,
            const std::vector<std::string>& knobs);
bool covers(const std::vector<std::string>& globs, const std::vector<std::string>& paths,
            const std::vector<std::string>& knobs);
bool glob_matches(std::string_view pattern, std::string_view path);

// The argument vector with each {name} replaced whole by its value; an unknown name is an error.
base::Result<std::vector<std::string>> substitute(const std::vector<std::string>& argv,
                                                  const std::map<std::string, std::string>& values);

// Splits "a 'b c' d" into arguments: quotes and backslashes, no shell.
base::Result<std::vector<std::string>> split_arguments(std::string_view text);

}  // namespace hypotheses

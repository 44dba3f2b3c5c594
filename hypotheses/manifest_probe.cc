// Reading the parts of a manifest: commands, knobs and probes.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "hypotheses/glob.h"
#include "hypotheses/manifest_read.h"
#include "hypotheses/nearest.h"

namespace hypotheses {
namespace {

constexpr double kLongestTimeoutS = 24 * 3600;

bool name_character(char c, bool capitals) {
  return (c >= 'a' && c <= 'z') || (capitals && c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '_' || c == '.' || c == '-';
}

bool is_probe_name(std::string_view text) {
  return !text.empty() && text[0] != '.' && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) { return name_character(c, false); });
}

// The formats of DESIGN 4 that have no adapter yet.
bool is_planned_format(std::string_view text) {
  return text == "bmf" || text == "vllm-bench" || text == "pytest-benchmark";
}

std::optional<Format> read_format(const YamlNode& node) {
  const std::optional<std::string> text = node.is_scalar() ? node.text() : std::nullopt;
  if (!text || !is_planned_format(*text)) return read_word<Format>(node);
  node.mistake("the format " + *text + " is not supported yet; supported are " +
               all_words<Format>());
  return {};
}

// The unquoted words of a shell that would reach the program as arguments.
bool is_shell_operator(std::string_view argument) {
  constexpr std::string_view kOperators[] = {"|", "||", "&",  "&&", ";",
                                             "<", ">",  ">>", "2>", "2>&1"};
  return std::find(std::begin(kOperators), std::end(kOperators), argument) != std::end(kOperators);
}

void report_repeats(const std::vector<YamlNode>& items, std::string_view what) {
  std::vector<std::string> seen;
  for (const YamlNode& item : items) {
    if (!item.is_scalar()) continue;
    const std::string text = *item.text();
    if (std::find(seen.begin(), seen.end(), text) != seen.end())
      item.mistake("duplicate " + std::string(what) + " " + shown(text));
    seen.push_back(text);
  }
}

bool is_relative_inside(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

void read_conditions(const YamlNode& node, Probe& probe) {
  for (const std::string& name : node.keys()) {
    if (!is_name(name))
      node.mistake_at_key(name, "a condition's name has letters, digits, _ . - only");
    const YamlNode values = node.at(name);
    const std::vector<YamlNode> items =
        values.is_list() ? values.items() : std::vector<YamlNode>{values};
    if (items.empty()) values.mistake("expected at least one value");
    report_repeats(items, "value");
    std::vector<std::string>& kept = probe.conditions[name];
    for (const YamlNode& item : items) {
      const std::optional<std::string> value = item.text();
      if (!value) continue;
      const bool plain = value->find_first_of("{},= \t\r\n") == std::string::npos;
      if (value->empty() || !plain)
        item.mistake("a condition's value has no spaces, commas, braces or '='; found " +
                     shown(*value));
      kept.push_back(*value);
    }
  }
  std::size_t product = 1;
  for (const auto& [name, values] : probe.conditions)
    product = std::min(product * std::max<std::size_t>(values.size(), 1), kMaxCombinations + 1);
  if (product > kMaxCombinations) {
    node.mistake("the conditions have more than " + std::to_string(kMaxCombinations) +
                 " combinations; split the probe or drop values");
  }
}

// google-benchmark and hyperfine print many numbers: `from` says which one is the metric.
MetricSource read_source(const YamlNode& metric, Format format) {
  MetricSource source;
  const bool needed = format == Format::google_benchmark || format == Format::hyperfine;
  const YamlNode node = needed ? metric.required("from") : metric.at("from");
  if (!node.present()) return source;
  if (format == Format::nightshift) {
    metric.mistake_at_key("from", "the nightshift format names its metrics itself; drop 'from'");
    return source;
  }
  node.keys({"benchmark", "field"});
  const bool named = format == Format::google_benchmark;
  const YamlNode benchmark = named ? node.required("benchmark") : node.at("benchmark");
  const YamlNode field = needed ? node.required("field") : node.at("field");
  if (benchmark.present()) source.benchmark = benchmark.text().value_or("");
  if (field.present()) source.field = field.text().value_or("");
  return source;
}

constexpr std::string_view kCopyRate = "copy_rate";

// Above 0 and finite, in the metric's unit; or copy_rate, where the metric is a rate of bytes.
std::optional<Limit> read_limit(const YamlNode& node, const Metric& metric) {
  if (!node.present()) return {};
  const std::optional<std::string> text = node.text();
  if (!text) return {};
  if (*text == kCopyRate) {
    if (metric.better == Better::higher && bytes_per_s(metric.unit)) return Limit{0, true};
    node.mistake("copy_rate limits rates of bytes: expected better: higher and a unit like GB/s");
    return {};
  }
  const std::optional<double> value = node.number();
  if (!value) return {};
  if (std::isfinite(*value) && *value > 0) return Limit{*value, false};
  node.mistake("expected a number above 0 or copy_rate; found " + shown(*text));
  return {};
}

Metric read_metric(const std::string& name, const YamlNode& node, Format format) {
  Metric metric;
  metric.name = name;
  node.keys({"from", "better", "unit", "exact", "limit"});
  metric.from = read_source(node, format);
  // Not guessed: a wrong direction would turn every loss into a win.
  metric.better = read_word<Better>(node.required("better")).value_or(Better::lower);
  metric.unit = node.at("unit").text().value_or("");
  metric.exact = node.at("exact").boolean().value_or(false);
  metric.limit = read_limit(node.at("limit"), metric);
  return metric;
}

void read_metrics(const YamlNode& node, Probe& probe) {
  for (const std::string& name : node.keys()) {
    if (!is_name(name))
      node.mistake_at_key(name, "a metric's name has letters, digits, _ . - only");
    probe.metrics[name] = read_metric(name, node.at(name), probe.format);
  }
}

std::vector<std::string> read_covers(const YamlNode& node) {
  std::vector<std::string> covers = read_texts(node);
  if (node.is_list() && covers.empty())
    node.mistake("a probe that covers nothing answers nothing; write [\"**\"] for everything");
  return covers;
}

void read_spans(const YamlNode& node, Probe& probe) {
  const std::vector<std::string> patterns = node.keys();
  if (node.is_map() && patterns.empty())
    node.mistake("a timeline without spans says nothing about any file; name at least one");
  if (patterns.size() > kMaxSpans)
    node.mistake("at most " + std::to_string(kMaxSpans) + " spans can be told apart; found " +
                 std::to_string(patterns.size()));
  for (const std::string& pattern : patterns) {
    if (auto problem = glob_problem(pattern))
      node.mistake_at_key(pattern, *problem + "; found " + shown(pattern));
    const YamlNode globs = node.at(pattern);
    probe.spans[pattern] = read_texts(globs);
    if (globs.is_list() && globs.items().empty())
      globs.mistake("a span that stands for nothing explains nothing; drop it or add a pattern");
  }
}

// The keys that only a trace has, and those that it has not.
void read_timeline(const YamlNode& node, Probe& probe) {
  if (probe.format != Format::chrome_trace) {
    for (std::string_view key : {"shows", "spans", "waits"}) {
      if (node.at(key).present())
        node.mistake_at_key(key, "only a probe in the format chrome-trace has " + shown(key));
    }
    return;
  }
  const YamlNode answers = node.at("answers");
  const bool known = answers.is_scalar() && from_text<ProbeKind>(answers.text().value_or(""));
  if (known && probe.answers != ProbeKind::timeline)
    node.at("format").mistake("a chrome-trace is a timeline; write 'answers: timeline'");
  if (node.at("metrics").present())
    node.mistake_at_key("metrics",
                        "a chrome-trace emits no metrics: say under 'shows' which one it explains");
  const YamlNode shows = node.required("shows");
  probe.shows = shows.text().value_or("");
  if (shows.present() && shows.is_scalar() && probe.shows.empty())
    shows.mistake("expected the name of a metric; found an empty text");
  read_spans(node.required("spans"), probe);
  const YamlNode waits = node.at("waits");
  if (!waits.present()) return;
  for (const YamlNode& item : waits.items()) {
    const std::optional<std::string> pattern = item.text();
    if (!pattern) continue;
    if (auto problem = glob_problem(*pattern))
      item.mistake(*problem + "; found " + shown(*pattern));
    probe.waits.push_back(*pattern);
  }
}

}  // namespace

std::optional<double> bytes_per_s(std::string_view unit) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"B/s", 1},     {"kB/s", 1e3},     {"KB/s", 1e3},     {"MB/s", 1e6},     {"GB/s", 1e9},
      {"TB/s", 1e12}, {"KiB/s", 0x1p10}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}, {"TiB/s", 0x1p40}};
  for (const auto& [name, bytes] : kUnits) {
    if (unit == name) return bytes;
  }
  return {};
}

bool is_name(std::string_view text) {
  if (text.empty() || text[0] == '.' || text[0] == '-' || (text[0] >= '0' && text[0] <= '9'))
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return name_character(c, true); });
}

std::vector<std::string> read_texts(const YamlNode& node) {
  std::vector<std::string> texts;
  for (const YamlNode& item : node.items())
    if (auto text = item.text()) texts.push_back(*text);
  return texts;
}

std::vector<std::string> read_command(const YamlNode& node) {
  std::vector<std::string> argv;
  if (!node.present()) return argv;
  if (node.is_list()) {
    argv = read_texts(node);
  } else {
    const std::optional<std::string> text = node.text();
    if (!text) return argv;
    auto split = split_arguments(*text);
    if (!split) {
      node.mistake(split.error().message);
      return argv;
    }
    argv = std::move(*split);
    const auto shell = std::find_if(argv.begin(), argv.end(), is_shell_operator);
    if (shell != argv.end()) {
      node.mistake(shown(*shell) +
                   " means nothing here: no shell reads a command; put it into a "
                   "script, or write the command as a list of arguments");
    }
  }
  if (argv.empty() || argv.front().empty())
    node.mistake("expected a command; found nothing to run");
  return argv;
}

double read_timeout(const YamlNode& node, double otherwise) {
  const std::optional<double> seconds = node.seconds();
  if (!seconds) return otherwise;
  if (*seconds <= 0 || *seconds > kLongestTimeoutS)
    node.mistake("expected a time limit above 0 and of at most 24h");
  return *seconds;
}

Knob read_knob(const std::string& name, const YamlNode& node) {
  Knob knob;
  knob.name = name;
  node.keys({"file", "key", "when", "choices", "tags"});
  const YamlNode file = node.required("file");
  if (auto text = file.text()) {
    if (is_relative_inside(*text)) {
      knob.file = *text;
    } else {
      file.mistake("expected a path relative to the target's root, without '..'; found " +
                   shown(*text));
    }
  }
  const YamlNode key = node.required("key");
  if (auto text = key.text()) {
    knob.key = *text;
    if (text->empty()) key.mistake("expected a key of the knob's file; found an empty text");
  }
  const YamlNode when = node.at("when");
  if (auto text = when.text()) {
    if (*text == "launch") knob.when = KnobTime::launch;
    if (*text != "launch" && *text != "build")
      when.mistake("expected one of build, launch; found " + shown(*text));
  }
  const YamlNode choices = node.required("choices");
  knob.choices = read_texts(choices);
  if (choices.is_list()) {
    report_repeats(choices.items(), "choice");
    if (choices.items().size() < 2) choices.mistake("a knob needs at least two choices");
  }
  if (node.at("tags").present()) knob.tags = read_texts(node.at("tags"));
  return knob;
}

Probe read_probe(const std::string& name, const YamlNode& node) {
  Probe probe;
  probe.name = name;
  if (!is_probe_name(name))
    node.mistake("a probe's name has small letters, digits, _ . - only; found " + shown(name));
  node.keys({"answers", "layer", "covers", "run", "conditions", "format", "metrics", "shows",
             "spans", "waits", "resources", "timeout", "build"});
  probe.answers = read_word<ProbeKind>(node.required("answers")).value_or(probe.answers);
  probe.layer = read_word<Layer>(node.required("layer")).value_or(probe.layer);
  probe.covers = read_covers(node.required("covers"));
  probe.run = read_command(node.required("run"));
  const YamlNode build = node.at("build");
  for (const YamlNode& command : build.items()) probe.build.push_back(read_command(command));
  if (node.at("conditions").present()) read_conditions(node.at("conditions"), probe);
  const std::optional<Format> format = read_format(node.required("format"));
  probe.format = format.value_or(probe.format);
  const YamlNode metrics = node.at("metrics");
  // Of a format that we do not know nothing can be said about its metrics.
  if (metrics.present() && format && *format != Format::chrome_trace) read_metrics(metrics, probe);
  if (metrics.present() && !format)
    for (const std::string& metric : metrics.keys()) probe.metrics[metric].name = metric;
  if (format) read_timeline(node, probe);
  const bool checks_itself = probe.answers == ProbeKind::correctness &&
                             (probe.format == Format::nightshift || probe.format == Format::junit);
  const bool is_trace = probe.format == Format::chrome_trace;
  if (node.is_map() && format && probe.metrics.empty() && !checks_itself && !is_trace)
    node.mistake("this probe needs at least one metric under 'metrics'");
  probe.resources = read_resources(node.at("resources"));
  probe.timeout_s = read_timeout(node.at("timeout"), probe.timeout_s);
  check_slurm_time(node.at("resources").at("slurm"), probe);
  return probe;
}

}  // namespace hypotheses

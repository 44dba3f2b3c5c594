// Google Benchmark's JSON (--benchmark_format=json). With repetitions the `median` aggregate
// counts, else the median of the plain entries. A benchmark is known by its name before the first
// '/', or by its whole name when the manifest's has a '/'.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "runners/adapter_parts.h"

namespace runners {
using hypotheses::Metric;
using hypotheses::Probe;
using nlohmann::json;
namespace {

std::string text_at(const json& entry, const char* key) {
  auto place = entry.find(key);
  return place != entry.end() && place->is_string() ? place->get<std::string>() : "";
}

// "kda_decode/8" of all repetitions and aggregates of it.
std::string run_name(const json& entry) {
  std::string name = text_at(entry, "run_name");
  return name.empty() ? text_at(entry, "name") : name;
}

bool matches(const std::string& run, const std::string& wanted) {
  if (wanted.find('/') != std::string::npos) return run == wanted;
  return run.substr(0, run.find('/')) == wanted;
}

bool flag_at(const json& entry, const char* key) {
  auto place = entry.find(key);
  return place != entry.end() && place->is_boolean() && place->get<bool>();
}

// The entries of one benchmark; refused when it ran in more than one variant or with an error.
base::Result<std::vector<const json*>> entries_of(const Probe& probe, const Metric& metric,
                                                  const json& benchmarks) {
  std::vector<const json*> entries;
  std::set<std::string> runs, others;
  for (const auto& entry : benchmarks) {
    if (!entry.is_object()) return refuse(probe, "an entry of \"benchmarks\" is no object");
    std::string run = run_name(entry);
    if (!matches(run, metric.from.benchmark)) {
      others.insert(run);
      continue;
    }
    if (flag_at(entry, "error_occurred") || flag_at(entry, "skipped")) {
      std::string why = text_at(entry, "error_message") + text_at(entry, "skip_message");
      return refuse(probe, metric.name,
                    fmt::format("cannot be read: benchmark {} says: {}", clean_text(run, 100),
                                clean_text(why, 200)));
    }
    runs.insert(run);
    entries.push_back(&entry);
  }
  if (entries.empty()) {
    std::string found = fmt::format("{}", fmt::join(others, ", "));
    return refuse(probe, metric.name,
                  fmt::format("is missing: there is no benchmark {} (found: {})",
                              metric.from.benchmark, clean_text(found, 200)));
  }
  if (runs.size() > 1) {
    return refuse(
        probe, metric.name,
        fmt::format("is ambiguous: {} all match {}; let the probe's conditions choose one",
                    clean_text(fmt::format("{}", fmt::join(runs, ", ")), 200),
                    metric.from.benchmark));
  }
  return entries;
}

base::Result<double> field_value(const Probe& probe, const Metric& metric, const json& entry) {
  auto place = entry.find(metric.from.field);
  if (place == entry.end()) {
    return refuse(probe, metric.name,
                  fmt::format("is missing: benchmark {} has no field {}", metric.from.benchmark,
                              metric.from.field));
  }
  NS_ASSIGN(value, finite_number(probe, metric.name, *place));
  bool is_time = metric.from.field == "real_time" || metric.from.field == "cpu_time";
  if (!is_time) return value;
  std::string unit = text_at(entry, "time_unit");
  return in_unit(probe, metric.name, value, unit.empty() ? "ns" : unit, metric.unit);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : values[half - 1] / 2 + values[half] / 2;
}

base::Result<double> benchmark_value(const Probe& probe, const Metric& metric,
                                     const json& benchmarks) {
  NS_ASSIGN(entries, entries_of(probe, metric, benchmarks));
  std::vector<double> plain, medians;
  std::set<long> repetitions;
  for (const json* entry : entries) {
    bool aggregate = text_at(*entry, "run_type") == "aggregate";
    if (aggregate && text_at(*entry, "aggregate_name") != "median") continue;
    NS_ASSIGN(value, field_value(probe, metric, *entry));
    (aggregate ? medians : plain).push_back(value);
    auto index = entry->find("repetition_index");
    long repetition = index != entry->end() && index->is_number_integer() ? index->get<long>() : 0;
    if (!aggregate && !repetitions.insert(repetition).second) {
      return refuse(probe, metric.name, "stands twice in the output for the same repetition");
    }
  }
  if (medians.size() > 1) return refuse(probe, metric.name, "has two medians in the output");
  if (!medians.empty()) return medians.front();
  if (plain.empty())
    return refuse(probe, metric.name, "is missing: there are aggregates, but no median");
  return median(std::move(plain));
}

}  // namespace

base::Result<ProbeOutput> parse_google_benchmark(const Probe& probe,
                                                 const hypotheses::Conditions& conditions,
                                                 std::string_view text) {
  auto document = parse_json(text);
  if (!document) {
    return refuse(probe,
                  fmt::format("its stdout is not one Google Benchmark JSON document ({}); run "
                              "it with --benchmark_format=json and print nothing else there",
                              document.error().message));
  }
  if (!document->is_object() || !document->contains("benchmarks") ||
      !(*document)["benchmarks"].is_array()) {
    return refuse(probe, "its stdout has no list \"benchmarks\"");
  }
  ProbeOutput output;
  for (const auto& [name, metric] : probe.metrics) {
    NS_ASSIGN(value, benchmark_value(probe, metric, (*document)["benchmarks"]));
    output.observations.push_back({{name, conditions}, value, metric.unit});
  }
  return output;
}

}  // namespace runners

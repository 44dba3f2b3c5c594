// hyperfine's JSON (--export-json /dev/stdout --style none); times are in seconds.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runners/adapter_parts.h"

namespace runners {
using hypotheses::Metric;
using hypotheses::Probe;
using nlohmann::json;
namespace {

// The result of the command of that name; the only one when the manifest names none.
base::Result<const json*> result_of(const Probe& probe, const Metric& metric, const json& results) {
  const json* found = nullptr;
  for (const auto& result : results) {
    if (!result.is_object()) return refuse(probe, "an entry of \"results\" is no object");
    auto command = result.find("command");
    bool named =
        command != result.end() && command->is_string() && *command == metric.from.benchmark;
    if (!named && !metric.from.benchmark.empty()) continue;
    if (found != nullptr) return refuse(probe, metric.name, "is ambiguous: two results match");
    found = &result;
  }
  if (found != nullptr) return found;
  return refuse(
      probe, metric.name,
      fmt::format("is missing: no result has the command name '{}'", metric.from.benchmark));
}

// hyperfine goes on after a failed command with --ignore-failure; its time says nothing.
base::Status check_exit_codes(const Probe& probe, const Metric& metric, const json& result) {
  auto codes = result.find("exit_codes");
  if (codes == result.end()) return {};
  for (const auto& code : *codes) {
    if (!code.is_number_integer() || code != 0) {
      return refuse(
          probe, metric.name,
          fmt::format("cannot be used: the timed command ended with {}",
                      code.is_null() ? "a signal" : "exit code " + clean_text(code.dump(), 20)));
    }
  }
  return {};
}

base::Result<double> hyperfine_value(const Probe& probe, const Metric& metric,
                                     const json& results) {
  NS_ASSIGN(result, result_of(probe, metric, results));
  NS_TRY(check_exit_codes(probe, metric, *result));
  std::string field = metric.from.field.empty() ? "median" : metric.from.field;
  auto place = result->find(field);
  if (place == result->end()) {
    return refuse(probe, metric.name, fmt::format("is missing: the result has no field {}", field));
  }
  NS_ASSIGN(value, finite_number(probe, metric.name, *place));
  return in_unit(probe, metric.name, value, "s", metric.unit);
}

}  // namespace

base::Result<ProbeOutput> parse_hyperfine(const Probe& probe,
                                          const hypotheses::Conditions& conditions,
                                          std::string_view text) {
  auto document = parse_json(text);
  if (!document) {
    return refuse(probe,
                  fmt::format("its stdout is not one hyperfine JSON document ({}); run it with "
                              "--style none --export-json /dev/stdout",
                              document.error().message));
  }
  if (!document->is_object() || !document->contains("results") ||
      !(*document)["results"].is_array()) {
    return refuse(probe, "its stdout has no list \"results\"");
  }
  ProbeOutput output;
  for (const auto& [name, metric] : probe.metrics) {
    NS_ASSIGN(value, hyperfine_value(probe, metric, (*document)["results"]));
    output.observations.push_back(
        {{name, conditions}, value, metric.unit.empty() ? "s" : metric.unit});
  }
  return output;
}

}  // namespace runners

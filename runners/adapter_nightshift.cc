// JSON lines: {"metric": ..., "value": ..., "unit": ..., "conditions": {...}} and
// {"check": ..., "ok": ..., "first_mismatch": {...}, "detail": {...}}.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runners/adapter_parts.h"

namespace runners {
using hypotheses::Conditions;
using hypotheses::Probe;
using nlohmann::json;
namespace {

std::string value_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// {"head": 3, "rms": 0.5} as "head 3, rms 0.5".
std::string flat_text(const json& value) {
  if (!value.is_object()) return value_text(value);
  std::string text;
  for (const auto& [name, entry] : value.items()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value_text(entry));
  }
  return text;
}

std::string failure_text(const json& line) {
  std::string text = value_text(line["check"]) + " failed";
  if (line.contains("first_mismatch") && !line["first_mismatch"].is_null()) {
    text += ": first mismatch at " + flat_text(line["first_mismatch"]);
  }
  if (line.contains("detail") && !line["detail"].empty())
    text += " (" + flat_text(line["detail"]) + ")";
  return clean_text(text);
}

// Conditions of the line are added to those of the run and must not contradict them.
base::Result<Conditions> conditions_of(const Probe& probe, const std::string& metric,
                                       const json& line, Conditions conditions) {
  if (!line.contains("conditions")) return conditions;
  if (!line["conditions"].is_object())
    return refuse(probe, metric, "has conditions that are no object");
  for (const auto& [name, value] : line["conditions"].items()) {
    if (value.is_structured() || value.is_null()) {
      return refuse(probe, metric, fmt::format("has a condition {} without a plain value", name));
    }
    std::string text = value_text(value);
    auto [place, added] = conditions.emplace(name, text);
    if (!added && place->second != text) {
      return refuse(probe, metric,
                    fmt::format("was measured with {}={}, but {}={} was asked for", name, text,
                                name, place->second));
    }
  }
  return conditions;
}

base::Status add_metric(const Probe& probe, const json& line, const Conditions& conditions,
                        ProbeOutput& output) {
  if (!line["metric"].is_string() || line["metric"].get<std::string>().empty()) {
    return refuse(probe, "a line has a \"metric\" that is no name");
  }
  auto name = line["metric"].get<std::string>();
  if (!line.contains("value")) return refuse(probe, name, "has no \"value\"");
  NS_ASSIGN(value, finite_number(probe, name, line["value"]));
  if (line.contains("unit") && !line["unit"].is_string()) {
    return refuse(probe, name, "has a \"unit\" that is no text");
  }
  std::string unit = line.value("unit", "");
  if (auto declared = probe.metrics.find(name); declared != probe.metrics.end()) {
    NS_ASSIGN(converted, in_unit(probe, name, value, unit, declared->second.unit));
    value = converted;
    if (!declared->second.unit.empty()) unit = declared->second.unit;
  }
  NS_ASSIGN(all, conditions_of(probe, name, line, conditions));
  output.observations.push_back({{name, std::move(all)}, value, unit});
  return {};
}

base::Status add_check(const Probe& probe, const json& line, ProbeOutput& output) {
  if (!line["check"].is_string()) return refuse(probe, "a line has a \"check\" that is no name");
  if (!line.contains("ok") || !line["ok"].is_boolean()) {
    return refuse(probe, fmt::format("check {} has no \"ok\" that is true or false",
                                     clean_text(line["check"].get<std::string>(), 100)));
  }
  bool ok = line["ok"].get<bool>();
  if (!ok && output.first_failure.empty()) output.first_failure = failure_text(line);
  output.check_ok = output.check_ok.value_or(true) && ok;
  return {};
}

base::Status add_line(const Probe& probe, int number, std::string_view text,
                      const Conditions& conditions, ProbeOutput& output) {
  auto line = parse_json(text);
  if (!line || !line->is_object()) {
    return refuse(probe, fmt::format("line {} of its stdout is no JSON object: {}{}; other output "
                                     "belongs on stderr",
                                     number, clean_text(text, 80),
                                     line ? "" : " (" + line.error().message + ")"));
  }
  if (line->contains("metric")) return add_metric(probe, *line, conditions, output);
  if (line->contains("check")) return add_check(probe, *line, output);
  return refuse(probe, fmt::format("line {} of its stdout has neither \"metric\" nor \"check\": {}",
                                   number, clean_text(text, 80)));
}

}  // namespace

base::Result<ProbeOutput> parse_nightshift(const Probe& probe, const Conditions& conditions,
                                           std::string_view text) {
  ProbeOutput output;
  for (int number = 1; !text.empty(); ++number) {
    auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      NS_TRY(add_line(probe, number, line, conditions, output));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return output;
}

}  // namespace runners

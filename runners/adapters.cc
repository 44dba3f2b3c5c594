#include "runners/adapters.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "runners/adapter_parts.h"

namespace runners {
using base::ErrorCode;
using hypotheses::Format;
using hypotheses::Probe;
using nlohmann::json;
namespace {

std::optional<double> seconds_in(std::string_view unit) {
  if (unit == "ns") return 1e-9;
  if (unit == "us" || unit == "µs") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  return {};
}

base::Result<ProbeOutput> parse_format(const Probe& probe, const hypotheses::Conditions& conditions,
                                       std::string_view text) {
  switch (probe.format) {
    case Format::nightshift:
      return parse_nightshift(probe, conditions, text);
    case Format::google_benchmark:
      return parse_google_benchmark(probe, conditions, text);
    case Format::hyperfine:
      return parse_hyperfine(probe, conditions, text);
    case Format::junit:
      return parse_junit(probe, conditions, text);
    case Format::chrome_trace:
      return parse_chrome_trace(probe, text);
  }
  return refuse(probe, "unknown format");
}

bool has_checks(Format format) { return format == Format::nightshift || format == Format::junit; }

// The gate that every format passes: nothing that is not finite, nothing twice, nothing missing.
base::Status check_output(const Probe& probe, const ProbeOutput& output) {
  std::set<hypotheses::MetricKey> keys;
  std::set<std::string> names;
  for (const auto& observation : output.observations) {
    const std::string& metric = observation.key.metric;
    if (!std::isfinite(observation.value)) {
      return refuse(probe, metric, "is not a finite number");
    }
    if (!keys.insert(observation.key).second) {
      return refuse(probe, metric, "stands twice in the output for the same conditions");
    }
    names.insert(metric);
  }
  for (const auto& [name, metric] : probe.metrics) {
    if (names.count(name) == 0) {
      return refuse(probe, name, "is missing from the output; the manifest declares it");
    }
  }
  if (probe.answers == hypotheses::ProbeKind::correctness && has_checks(probe.format) &&
      !output.check_ok) {
    return refuse(probe, "it answers correctness and printed no check, so nothing was checked");
  }
  return {};
}

}  // namespace

tl::unexpected<base::Error> refuse(const Probe& probe, std::string message) {
  return base::fail(ErrorCode::bad_input, std::move(message), fmt::format("probe {}", probe.name));
}

tl::unexpected<base::Error> refuse(const Probe& probe, std::string_view metric,
                                   std::string message) {
  return refuse(probe, fmt::format("metric {} {}", clean_text(metric, 100), message));
}

base::Result<double> finite_number(const Probe& probe, std::string_view metric, const json& value) {
  if (value.is_number()) {
    double number = value.get<double>();
    if (std::isfinite(number)) return number;
  }
  std::string shown = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return refuse(probe, metric, fmt::format("is {}, not a finite number", clean_text(shown, 80)));
}

base::Result<double> in_unit(const Probe& probe, std::string_view metric, double value,
                             std::string_view from, std::string_view unit) {
  if (from == unit || from.empty() || unit.empty()) return value;
  auto from_s = seconds_in(from), unit_s = seconds_in(unit);
  if (!from_s || !unit_s) {
    return refuse(probe, metric,
                  fmt::format("is in {}, but the manifest says {}", clean_text(from, 40), unit));
  }
  double converted = value * (*from_s / *unit_s);
  if (!std::isfinite(converted)) return refuse(probe, metric, "is too large for its unit");
  return converted;
}

base::Result<ProbeOutput> parse_output(const Probe& probe, const hypotheses::Conditions& conditions,
                                       std::string_view standard_output) {
  if (standard_output.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return refuse(probe, fmt::format("it printed nothing on stdout, where its {} output belongs",
                                     hypotheses::to_text(probe.format)));
  }
  NS_ASSIGN(output, parse_format(probe, conditions, standard_output));
  NS_TRY(check_output(probe, output));
  return output;
}

}  // namespace runners

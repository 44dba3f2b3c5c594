// What the adapters of all formats share. Every refusal names the probe, and the metric where there
// is one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "runners/adapters.h"

namespace runners {

base::Result<ProbeOutput> parse_nightshift(const hypotheses::Probe& probe,
                                           const hypotheses::Conditions& conditions,
                                           std::string_view text);
base::Result<ProbeOutput> parse_google_benchmark(const hypotheses::Probe& probe,
                                                 const hypotheses::Conditions& conditions,
                                                 std::string_view text);
base::Result<ProbeOutput> parse_hyperfine(const hypotheses::Probe& probe,
                                          const hypotheses::Conditions& conditions,
                                          std::string_view text);
base::Result<ProbeOutput> parse_junit(const hypotheses::Probe& probe,
                                      const hypotheses::Conditions& conditions,
                                      std::string_view text);
base::Result<ProbeOutput> parse_chrome_trace(const hypotheses::Probe& probe, std::string_view text);

tl::unexpected<base::Error> refuse(const hypotheses::Probe& probe, std::string message);
tl::unexpected<base::Error> refuse(const hypotheses::Probe& probe, std::string_view metric,
                                   std::string message);

// A finite number, or a refusal that says what stands there instead.
base::Result<double> finite_number(const hypotheses::Probe& probe, std::string_view metric,
                                   const nlohmann::json& value);

// `value` in `unit`; units of time are converted (ns, us, ms, s), equal ones kept, an empty one on
// either side is taken for the other, and anything else is a refusal.
base::Result<double> in_unit(const hypotheses::Probe& probe, std::string_view metric, double value,
                             std::string_view from, std::string_view unit);

// One JSON document, strictly: nothing before or after it, no duplicate keys, not nested deeper
// than 64. What JSON cannot hold but programs print (NaN, Infinity, 1e999) becomes a text, so that
// the metric that has it can be refused by name.
base::Result<nlohmann::json> parse_json(std::string_view text);

// Foreign text made safe to store and show: valid UTF-8, no control characters, at most `limit`
// bytes.
std::string clean_text(std::string_view text, std::size_t limit = 400);

// The last line that is not blank, cleaned.
std::string last_line_of(std::string_view text);

}  // namespace runners

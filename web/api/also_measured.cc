#include "web/api/also_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "policies/robust.h"
#include "web/api/views.h"

namespace web {

namespace {

struct Sides {
  std::optional<double> base, candidate;
};

struct Series {
  std::string unit;
  std::map<int, Sides> pairs;  // by attempt
};

AlsoMeasured summary(const hypotheses::MetricKey& key, const Series& series) {
  AlsoMeasured row{key, series.unit, 0, 0, 0, {}};
  std::vector<double> base, candidate, ratios;
  for (const auto& [attempt, sides] : series.pairs) {
    if (!sides.base || !sides.candidate) continue;
    base.push_back(*sides.base);
    candidate.push_back(*sides.candidate);
    const bool positive = *sides.base > 0 && *sides.candidate > 0;
    if (positive) ratios.push_back(std::log(*sides.candidate / *sides.base));
  }
  row.pairs = static_cast<int>(base.size());
  row.base = policies::median(base);
  row.candidate = policies::median(candidate);
  if (!ratios.empty() && ratios.size() == base.size()) row.log_ratio = policies::median(ratios);
  return row;
}

}  // namespace

std::vector<AlsoMeasured> also_measured(const hypotheses::Experiment& experiment,
                                        const std::vector<hypotheses::Run>& runs) {
  std::map<hypotheses::MetricKey, Series> all;
  for (const auto& run : runs) {
    if (!run.measured) continue;
    for (const auto& observation : run.observations) {
      if (observation.key == experiment.key || !std::isfinite(observation.value)) continue;
      Series& series = all[observation.key];
      series.unit = observation.unit;
      Sides& sides = series.pairs[run.attempt];
      (run.side == hypotheses::Side::base ? sides.base : sides.candidate) = observation.value;
    }
  }
  std::vector<AlsoMeasured> rows;
  for (const auto& [key, series] : all) {
    if (auto row = summary(key, series); row.pairs > 0) rows.push_back(std::move(row));
  }
  const auto change = [](const AlsoMeasured& row) {
    return row.log_ratio ? std::abs(*row.log_ratio) : -1;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const AlsoMeasured& a, const AlsoMeasured& b) {
    return change(a) > change(b);
  });
  return rows;
}

std::string to_text(const AlsoMeasured& row) {
  const std::string pairs = fmt::format("{} {}", row.pairs, row.pairs == 1 ? "pair" : "pairs");
  return fmt::format(
      "{}  {} to {} ({}{})", to_text(row.key), number_text(row.base, row.unit),
      number_text(row.candidate, row.unit),
      row.log_ratio ? fmt::format("{:+.1f}%, ", 100 * std::expm1(*row.log_ratio)) : "", pairs);
}

}  // namespace web

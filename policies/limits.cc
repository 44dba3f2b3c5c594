#include "policies/limits.h"

#include <fmt/format.h>

#include <cmath>

namespace policies {
namespace {

// The limit in the metric's unit; 0 = none is known.
double limit_in_unit(const hypotheses::Metric& metric, const MachineLimits& machine) {
  if (!metric.limit) return 0;
  if (!metric.limit->is_copy_rate) return metric.limit->value;
  constexpr double kCopyRateSlack = 1.1;
  const auto unit = hypotheses::bytes_per_s(metric.unit);
  return unit ? kCopyRateSlack * machine.copy_rate / *unit : 0;
}

}  // namespace

std::string flag_of(const hypotheses::Evidence& evidence, const hypotheses::Metric& metric,
                    double implausible_ratio, const MachineLimits& machine) {
  if (evidence.pairs == 0) return "";
  if (implausible_ratio > 1 && evidence.effect > std::log(implausible_ratio)) {
    return fmt::format("above {:g}x", implausible_ratio);
  }
  const double limit = limit_in_unit(metric, machine);
  if (!(limit > 0)) return "";
  const bool higher = metric.better == hypotheses::Better::higher;
  const auto beyond = [&](double value) { return higher ? value > limit : value < limit; };
  if (!beyond(evidence.candidate_value)) return "";
  const std::string what = metric.limit->is_copy_rate ? "the machine's copy rate" : "the limit";
  return fmt::format("{} {} ({:.4g} {unit} against {:.4g} {unit}{})", higher ? "above" : "below",
                     what, evidence.candidate_value, limit,
                     beyond(evidence.base_value) ? "; so is the base: check the limit" : "",
                     fmt::arg("unit", metric.unit));
}

}  // namespace policies

#include "policies/phrase.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "policies/evidence.h"

namespace policies {
namespace {

// Below this ratio a change is said in percent.
constexpr double kAsRatio = 1.1;

bool is_speed(const std::string& unit) {
  static constexpr std::array kTimes = {"ns", "us", "ms", "s", "min", "h"};
  return unit.ends_with("/s") || std::find(kTimes.begin(), kTimes.end(), unit) != kTimes.end();
}

struct Gain {
  std::string size;  // "1.71x", "0.4%"
  std::string way;   // "faster", ...
};

bool said_as_ratio(double oriented) { return std::exp(std::fabs(oriented)) >= kAsRatio; }

Gain gain_of(double oriented, const std::string& unit, bool as_ratio) {
  const double ratio = std::exp(std::fabs(oriented));
  const bool speed = is_speed(unit);
  const char* way = oriented < 0 ? (speed ? "slower" : "worse") : (speed ? "faster" : "better");
  if (as_ratio) return {fmt::format("{:.2f}x", ratio), way};
  return {fmt::format("{:.1f}%", 100 * (ratio - 1)), way};
}

// In the form of the estimate, so that the three numbers can be compared.
std::string bound_text(double bound, const std::string& unit, const std::string& known_way,
                       bool as_ratio) {
  if (std::fabs(bound) >= kUnbounded) return "unbounded";
  const Gain gain = gain_of(bound, unit, as_ratio);
  return gain.way == known_way ? gain.size : gain.size + " " + gain.way;
}

}  // namespace

std::string percent_text(double fraction) { return fmt::format("{:.3g}%", 100 * fraction); }

std::string count_text(double count) {
  if (count >= 1e6) return fmt::format("{:.0e}", count);
  const long rounded = std::lround(count);
  if (count < 10 && static_cast<double>(rounded) != count) return fmt::format("{:.1f}", count);
  if (rounded < 1000) return std::to_string(rounded);
  return fmt::format("{},{:03d}", rounded / 1000, rounded % 1000);
}

std::string gain_text(double oriented, const std::string& unit) {
  const Gain gain = gain_of(oriented, unit, said_as_ratio(oriented));
  return gain.size + " " + gain.way;
}

std::string measured_text(const hypotheses::Evidence& evidence, double alpha) {
  const bool as_ratio = said_as_ratio(evidence.effect);
  const Gain gain = gain_of(evidence.effect, evidence.unit, as_ratio);
  const std::string after =
      fmt::format("after {} {}", evidence.pairs, evidence.pairs == 1 ? "pair" : "pairs");
  if (evidence.pairs > 0 && evidence.low == evidence.high) {  // an exact counter
    if (evidence.effect == 0) return "candidate is exactly equal " + after;
    return fmt::format("candidate is exactly {} {} {}", gain.size, gain.way, after);
  }
  const bool same_way = (evidence.low >= 0) == (evidence.high >= 0);
  const std::string& known_way = same_way ? gain.way : std::string();
  return fmt::format("candidate is {} {} ({} interval {} to {}) {}", gain.size, gain.way,
                     percent_text(1 - alpha),
                     bound_text(evidence.low, evidence.unit, known_way, as_ratio),
                     bound_text(evidence.high, evidence.unit, known_way, as_ratio), after);
}

}  // namespace policies

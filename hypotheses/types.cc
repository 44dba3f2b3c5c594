#include "hypotheses/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace hypotheses {
namespace {

// "-40", "+3.25": at most four decimals, always with a sign.
std::string signed_number(double value) {
  std::string text = fmt::format("{:+.4f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "+0" : text;
}

double percent_of(double log_ratio) { return std::expm1(log_ratio) * 100; }

// "batch=1,len=64" and nothing else; each name once.
std::optional<Conditions> parse_conditions(std::string_view text) {
  Conditions conditions;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) return {};
    const std::string_view value = item.substr(equals + 1);
    if (value.find('=') != std::string_view::npos) return {};
    if (!conditions.emplace(item.substr(0, equals), value).second) return {};
    if (comma == std::string_view::npos) return conditions;
    text.remove_prefix(comma + 1);
  }
}

std::optional<MetricKey> parse_key(std::string_view text) {
  MetricKey key;
  const std::size_t brace = text.find('{');
  if (brace != std::string_view::npos) {
    if (!text.ends_with('}')) return {};
    auto conditions = parse_conditions(text.substr(brace + 1, text.size() - brace - 2));
    if (!conditions) return {};
    key.conditions = std::move(*conditions);
    text = text.substr(0, brace);
  }
  if (text.empty() || text.find_first_of(" \t\r\n{}") != std::string_view::npos) return {};
  key.metric = text;
  return key;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r\n") - start + 1);
}

bool is_time(std::string_view unit) {
  constexpr std::string_view kTimes[] = {"ns", "us", "\u00b5s", "ms", "s", "min", "h"};
  return std::find(std::begin(kTimes), std::end(kTimes), unit) != std::end(kTimes);
}

std::string_view direction(const Evidence& evidence, bool better) {
  if (evidence.better == Better::lower && is_time(evidence.unit))
    return better ? "faster" : "slower";
  return better == (evidence.better == Better::higher) ? "higher" : "lower";
}

std::string ratio_text(double log_ratio) {
  const double ratio = std::exp(log_ratio);
  if (ratio >= 1e6) return "over 1000000x";
  return ratio < 10 ? fmt::format("{:.2f}x", ratio)
                    : fmt::format("{:.{}f}x", ratio, ratio < 100 ? 1 : 0);
}

std::string percent_text(double log_ratio) {
  const double percent = percent_of(log_ratio);
  if (percent >= 1e6) return "over +1000000%";
  const std::string text = fmt::format("{:+.1f}%", percent);
  return text == "-0.0%" ? "+0.0%" : text;
}

}  // namespace

std::string to_text(const Conditions& conditions) {
  std::string text;
  for (const auto& [name, value] : conditions) {
    if (!text.empty()) text += ',';
    text.append(name).append("=").append(value);
  }
  return text;
}

std::string to_text(const MetricKey& key) {
  return key.conditions.empty() ? key.metric : key.metric + "{" + to_text(key.conditions) + "}";
}

std::string to_text(const Prediction& prediction) {
  return to_text(prediction.key) + " " + signed_number(percent_of(prediction.log_ratio)) + "%";
}

std::optional<Prediction> parse_prediction(std::string_view text) {
  text = trimmed(text);
  const std::size_t space = text.find_last_of(" \t");
  if (space == std::string_view::npos || !text.ends_with('%')) return {};
  std::string_view number = text.substr(space + 1);
  number.remove_suffix(1);
  // Without its sign a number says nothing of the direction.
  if (number.size() < 2 || (number[0] != '+' && number[0] != '-')) return {};
  const bool plus = number[0] == '+';
  if (plus) number.remove_prefix(1);
  if (plus && number[0] == '-') return {};
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (error != std::errc() || end != number.data() + number.size()) return {};
  if (!std::isfinite(percent) || percent <= -100) return {};
  std::optional<MetricKey> key = parse_key(trimmed(text.substr(0, space)));
  if (!key) return {};
  return Prediction{std::move(*key), std::log1p(percent / 100)};
}

std::string to_text(const Change& change) {
  if (change.empty()) return "no change";
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const KnobSetting& setting : change.knobs) add(setting.knob + " = " + setting.value);
  std::vector<std::string> paths;
  for (const Edit& edit : change.edits) {
    if (std::find(paths.begin(), paths.end(), edit.path) != paths.end()) continue;
    add((paths.empty() ? "edits " : "") + edit.path);
    paths.push_back(edit.path);
  }
  if (!change.branch.empty())
    add("branch " + change.branch + (change.commit ? " at " + change.commit.brief() : ""));
  return text;
}

double inclusive_share(const Timeline& timeline, std::string_view span) {
  double share = 0;
  for (const StackShare& stack : timeline.stacks) {
    if (std::find(stack.spans.begin(), stack.spans.end(), span) != stack.spans.end())
      share += stack.share;
  }
  return share;
}

std::string effect_text(const Evidence& evidence) {
  const double effect = evidence.effect;
  if (!std::isfinite(effect)) return "not measured";
  const bool bounded = std::isfinite(evidence.low) && std::isfinite(evidence.high);
  const auto with_interval = [&](const std::string& estimate, const std::string& low,
                                 const std::string& high) {
    return estimate + (bounded ? " (" + low + " to " + high + ")" : " (interval not yet known)");
  };
  // A rounding error must not turn a clean 1.1x into a percentage.
  if (std::abs(effect) >= std::log(1.1) - 1e-12) {
    const bool better = effect > 0;
    const double low = better ? evidence.low : -evidence.high;
    const double high = better ? evidence.high : -evidence.low;
    const std::string estimate =
        ratio_text(std::abs(effect)) + " " + std::string(direction(evidence, better));
    return with_interval(estimate, ratio_text(low), ratio_text(high));
  }
  // Oriented back into the metric's own sense: a time that fell by 3% reads -3%.
  const bool flip = evidence.better == Better::lower;
  const double low = flip ? -evidence.high : evidence.low;
  const double high = flip ? -evidence.low : evidence.high;
  return with_interval(percent_text(flip ? -effect : effect), percent_text(low),
                       percent_text(high));
}

}  // namespace hypotheses

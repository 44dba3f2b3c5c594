// Small SVG pictures. Colours come from the style sheet through classes; coordinates are ours
// alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "web/api/widgets.h"

namespace web {

using hypotheses::Evidence;

namespace {

double finite_or(double value, double otherwise) {
  return std::isfinite(value) ? value : otherwise;
}

// Maps [from, to] to [start, end]; what lies beyond is drawn at the edge.
struct Axis {
  double from = -1, to = 1, start = 0, end = 1;
  double at(double value) const {
    return start + std::clamp((value - from) / (to - from), 0.0, 1.0) * (end - start);
  }
};

std::string coordinate(double value) { return fmt::format("{:.1f}", value); }

// Log-ratios of round changes, the coarsest first: an axis takes as many as have room.
std::vector<double> round_changes(bool up) {
  std::vector<double> changes;
  if (up) {
    for (double percent : {900., 400., 200., 100., 50., 20., 10., 5., 2., 1., 0.5}) {
      changes.push_back(std::log1p(percent / 100));
    }
  } else {
    for (double percent : {90., 80., 70., 50., 30., 20., 10., 5., 2., 1., 0.5}) {
      changes.push_back(std::log1p(-percent / 100));
    }
  }
  return changes;
}

// Places for ticks on the axis, zero first, none nearer to another than `gap`.
std::vector<double> ticks_on(const Axis& axis, double gap) {
  std::vector<double> ticks{0};
  for (bool up : {true, false}) {
    for (double change : round_changes(up)) {
      const bool inside = change >= axis.from && change <= axis.to;
      const bool free = std::all_of(ticks.begin(), ticks.end(), [&](double other) {
        return std::abs(axis.at(other) - axis.at(change)) >= gap;
      });
      if (inside && free) ticks.push_back(change);
    }
  }
  return ticks;
}

// The next round change at or above a log-ratio, for the ends of a symmetric axis.
double round_reach(double reach) {
  for (double percent : {1., 2., 5., 10., 20., 50., 100., 200., 500., 1000.}) {
    if (std::log1p(percent / 100) >= reach) return std::log1p(percent / 100);
  }
  return std::max(reach, 1.0);
}

// "5%" or "1.5x": how much, whichever way.
std::string magnitude_text(double log_ratio) {
  const double ratio = std::exp(std::abs(log_ratio));
  return ratio >= 1.3 ? fmt::format("{:.3g}x", ratio) : fmt::format("{:.2g}%", (ratio - 1) * 100);
}

std::string_view sense(hypotheses::Better better) {
  return better == hypotheses::Better::lower ? "lower is better" : "higher is better";
}

double oriented(double log_ratio, hypotheses::Better better) {
  return better == hypotheses::Better::lower ? -log_ratio : log_ratio;
}

}  // namespace

std::string percent_text(double log_ratio) {
  if (!std::isfinite(log_ratio)) return "–";
  const double ratio = std::exp(log_ratio);
  if (ratio >= 1.995) return fmt::format("{:.2f}x", ratio);
  const double percent = std::abs(ratio - 1) * 100;
  if (percent < 0.05) return "0%";
  std::string text = fmt::format("{:.{}f}", percent, percent < 9.95 ? 1 : 0);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return (ratio < 1 ? "−" : "+") + text + "%";
}

Effect effect_of(const Evidence& evidence) {
  return {evidence.effect, evidence.low, evidence.high, effect_text(evidence)};
}

double reach_of(const Effect& effect) {
  double reach = 0.03;
  for (double value : {effect.estimate, effect.low, effect.high}) {
    if (std::isfinite(value)) reach = std::max(reach, std::abs(value));
  }
  return std::min(reach, 3.0);
}

Html effect_bar(const Effect& effect, std::string_view verdict, double reach) {
  const Axis axis{-reach * 1.08, reach * 1.08, 2, 138};
  const double low = axis.at(finite_or(effect.low, -reach * 2));
  const double high = axis.at(finite_or(effect.high, reach * 2));
  return html(
      "<svg class=\"bar {}\" viewBox=\"0 0 140 20\" width=\"140\" height=\"20\" role=\"img\" "
      "aria-label=\"{}\"><title>{}</title>"
      "<line class=\"track\" x1=\"2\" x2=\"138\" y1=\"10\" y2=\"10\"/>"
      "<line class=\"zero\" x1=\"70\" x2=\"70\" y1=\"2\" y2=\"18\"/>"
      "<rect class=\"interval\" x=\"{}\" y=\"6.5\" width=\"{}\" height=\"7\" rx=\"3.5\"/>"
      "<circle class=\"estimate\" cx=\"{}\" cy=\"10\" r=\"3.5\"/></svg>",
      verdict, effect.text, effect.text, coordinate(low), coordinate(std::max(high - low, 2.0)),
      coordinate(axis.at(finite_or(effect.estimate, 0))));
}

Html measured_cell(const Effect& effect, std::string_view verdict, double reach) {
  return html("{}<span class=\"effect\">{}</span>", effect_bar(effect, verdict, reach),
              effect.text);
}

Html effect_chart(const hypotheses::Hypothesis& hypothesis) {
  const auto better = hypothesis.evidence                   ? hypothesis.evidence->better
                      : hypothesis.prediction.log_ratio < 0 ? hypotheses::Better::lower
                                                            : hypotheses::Better::higher;
  const double predicted = finite_or(oriented(hypothesis.prediction.log_ratio, better), 0);
  double reach = std::max(std::abs(predicted), 0.02);
  if (hypothesis.evidence) reach = std::max(reach, reach_of(effect_of(*hypothesis.evidence)));
  reach = round_reach(reach);
  const Axis axis{-reach, reach, 96, 604};
  Html measured = html("<text class=\"label muted\" x=\"110\" y=\"66\">not measured yet</text>");
  if (hypothesis.evidence) {
    const Evidence& e = *hypothesis.evidence;
    const double low = axis.at(finite_or(e.low, -reach * 2));
    const double high = axis.at(finite_or(e.high, reach * 2));
    measured = html(
        "<rect class=\"interval\" x=\"{}\" y=\"55\" width=\"{}\" height=\"14\" rx=\"7\"/>"
        "<circle class=\"estimate\" cx=\"{}\" cy=\"62\" r=\"5\"/>",
        coordinate(low), coordinate(std::max(high - low, 3.0)),
        coordinate(axis.at(finite_or(e.effect, 0))));
  }
  // The middle ticks stand at half of the outer change, not at half of its logarithm.
  const double half = std::log1p(std::expm1(reach) / 2);
  Html marks;
  for (double tick : {-reach, -half, 0.0, half, reach}) {
    const std::string x = coordinate(axis.at(tick));
    marks += html(
        "<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"14\" y2=\"84\"/>"
        "<text class=\"tick\" x=\"{}\" y=\"102\">{}</text>",
        tick == 0 ? "zero" : "grid", x, x, x,
        tick == 0 ? std::string("same") : magnitude_text(tick));
  }
  const std::string verdict(hypothesis.verdict ? hypotheses::to_text(*hypothesis.verdict) : "");
  return html(
      "<svg class=\"chart {}\" viewBox=\"0 0 640 122\" role=\"img\" aria-label=\"predicted and "
      "measured effect\">{}"
      "<text class=\"label\" x=\"84\" y=\"36\" text-anchor=\"end\">predicted</text>"
      "<text class=\"label\" x=\"84\" y=\"66\" text-anchor=\"end\">measured</text>"
      "<path class=\"predicted\" d=\"M{} 24 l7 8 l-7 8 l-7 -8 z\"/>{}"
      "<text class=\"tick end\" x=\"604\" y=\"118\">better →</text>"
      "<text class=\"tick start\" x=\"96\" y=\"118\">← worse</text></svg>",
      verdict, marks, coordinate(axis.at(predicted)), measured);
}

namespace {

// All of the pairs, the interval and zero, with some air.
Axis axis_of(const std::vector<PairRow>& pairs, const std::optional<Evidence>& evidence) {
  double from = 0, to = 0;
  const auto include = [&](double value) {
    if (!std::isfinite(value)) return;
    from = std::min(from, std::max(value, -3.0));
    to = std::max(to, std::min(value, 3.0));
  };
  for (const PairRow& pair : pairs) include(pair.log_ratio.value_or(0));
  if (evidence) {
    include(oriented(evidence->low, evidence->better));
    include(oriented(evidence->high, evidence->better));
  }
  const double air = std::max((to - from) * 0.12, 0.004);
  return {from - air, to + air, 158, 12};  // up is more
}

Html band(const Axis& axis, const Evidence& evidence) {
  if (!std::isfinite(evidence.low) || !std::isfinite(evidence.high)) return {};
  const double a = axis.at(oriented(evidence.low, evidence.better));
  const double b = axis.at(oriented(evidence.high, evidence.better));
  const std::string y = coordinate(axis.at(oriented(evidence.effect, evidence.better)));
  return html(
      "<rect class=\"interval\" x=\"64\" width=\"564\" y=\"{}\" height=\"{}\"/>"
      "<line class=\"estimate\" x1=\"64\" x2=\"628\" y1=\"{}\" y2=\"{}\"/>",
      coordinate(std::min(a, b)), coordinate(std::max(std::abs(a - b), 1.0)), y, y);
}

}  // namespace

Html pair_plot(const std::vector<PairRow>& pairs, const std::optional<Evidence>& evidence) {
  int last = 1, shown = 0;
  for (const PairRow& pair : pairs) {
    last = std::max(last, pair.attempt + 1);
    shown += pair.log_ratio.has_value() ? 1 : 0;
  }
  if (shown == 0) return {};
  const Axis axis = axis_of(pairs, evidence);
  Html marks;
  for (double tick : ticks_on(axis, 20)) {
    const std::string y = coordinate(axis.at(tick));
    marks += html(
        "<line class=\"{}\" x1=\"64\" x2=\"628\" y1=\"{}\" y2=\"{}\"/>"
        "<text class=\"tick end\" x=\"56\" y=\"{}\">{}</text>",
        tick == 0 ? "zero" : "grid", y, y, coordinate(axis.at(tick) + 4),
        tick == 0 ? std::string("same") : percent_text(tick));
  }
  if (evidence) marks += band(axis, *evidence);
  const std::string unit = evidence ? evidence->unit : "";
  for (const PairRow& pair : pairs) {
    if (!pair.log_ratio) continue;
    const double x = 64 + (pair.attempt + 0.5) * 564 / last;
    marks += html(
        "<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"4\"><title>pair {}: base {}, "
        "candidate {}, {}</title></circle>",
        coordinate(x), coordinate(axis.at(*pair.log_ratio)), pair.attempt + 1,
        number_text(*pair.base, unit), number_text(*pair.candidate, unit),
        percent_text(*pair.log_ratio));
  }
  return html(
      "<figure><svg class=\"chart pairs\" viewBox=\"0 0 640 170\" role=\"img\" "
      "aria-label=\"change in each pair\">{}</svg><figcaption>Candidate against base: a dot "
      "for each of {} pairs, in the order in which they ran{}{}.</figcaption></figure>",
      marks, shown, evidence ? "; the band is the interval; " : "",
      evidence ? sense(evidence->better) : std::string_view());
}

}  // namespace web

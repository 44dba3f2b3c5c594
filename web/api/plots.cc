// Small SVG pictures. Colours come from the style sheet through classes; coordinates are ours alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "web/api/widgets.h"

namespace web {

using hypotheses::Evidence;

namespace {

double finite_or(double value, double otherwise) {
  return std::isfinite(value) ? value : otherwise;
}

// Maps [-reach, reach] to [left, right]; what lies beyond is drawn at the edge.
struct Axis {
  double reach = 1, left = 0, right = 1;
  double at(double value) const {
    const double part = std::clamp(value / reach, -1.0, 1.0);
    return (left + right) / 2 + part * (right - left) / 2;
  }
};

std::string coordinate(double value) { return fmt::format("{:.1f}", value); }

// The next round percentage at or above a log-ratio, for the ends of an axis.
double round_reach(double reach) {
  for (double percent : {1., 2., 5., 10., 20., 50., 100., 200., 500., 1000.}) {
    if (std::log1p(percent / 100) >= reach) return std::log1p(percent / 100);
  }
  return std::max(reach, 1.0);
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
  if (ratio >= 2) return fmt::format("{:.2f}x", ratio);
  const double percent = (ratio - 1) * 100;
  const int places = std::abs(percent) < 10 ? 1 : 0;
  const std::string text = fmt::format("{:.{}f}%", std::abs(percent), places);
  if (std::abs(percent) < 0.05) return "0%";
  return (percent < 0 ? "−" : "+") + text;
}

double reach_of(const Evidence& evidence) {
  double reach = 0.03;
  for (double value : {evidence.effect, evidence.low, evidence.high}) {
    if (std::isfinite(value)) reach = std::max(reach, std::abs(value));
  }
  return std::min(reach, 3.0);
}

Html effect_bar(const Evidence& evidence, std::string_view verdict, double reach) {
  const Axis axis{reach * 1.08, 2, 138};
  const double low = axis.at(finite_or(evidence.low, -reach * 2));
  const double high = axis.at(finite_or(evidence.high, reach * 2));
  return html(
      "<svg class=\"bar {}\" viewBox=\"0 0 140 20\" width=\"140\" height=\"20\" role=\"img\" "
      "aria-label=\"{}\"><title>{}</title>"
      "<line class=\"track\" x1=\"2\" x2=\"138\" y1=\"10\" y2=\"10\"/>"
      "<line class=\"zero\" x1=\"70\" x2=\"70\" y1=\"2\" y2=\"18\"/>"
      "<rect class=\"interval\" x=\"{}\" y=\"6.5\" width=\"{}\" height=\"7\" rx=\"3.5\"/>"
      "<circle class=\"estimate\" cx=\"{}\" cy=\"10\" r=\"3.5\"/></svg>",
      verdict, effect_text(evidence), effect_text(evidence), coordinate(low),
      coordinate(std::max(high - low, 2.0)), coordinate(axis.at(finite_or(evidence.effect, 0))));
}

Html effect_chart(const hypotheses::Hypothesis& hypothesis) {
  const auto better = hypothesis.evidence ? hypothesis.evidence->better
                      : hypothesis.prediction.log_ratio < 0 ? hypotheses::Better::lower
                                                            : hypotheses::Better::higher;
  const double predicted = oriented(hypothesis.prediction.log_ratio, better);
  double reach = std::abs(finite_or(predicted, 0));
  if (hypothesis.evidence) reach = std::max(reach, reach_of(*hypothesis.evidence));
  reach = round_reach(std::max(reach, 0.02));
  const Axis axis{reach, 96, 604};
  Html measured = html("<text class=\"label muted\" x=\"110\" y=\"66\">not measured yet</text>");
  if (hypothesis.evidence) {
    const Evidence& e = *hypothesis.evidence;
    const double low = axis.at(finite_or(e.low, -reach * 2));
    const double high = axis.at(finite_or(e.high, reach * 2));
    measured = html(
        "<rect class=\"interval\" x=\"{}\" y=\"56\" width=\"{}\" height=\"12\" rx=\"6\"/>"
        "<circle class=\"estimate\" cx=\"{}\" cy=\"62\" r=\"6\"/>",
        coordinate(low), coordinate(std::max(high - low, 3.0)),
        coordinate(axis.at(finite_or(e.effect, 0))));
  }
  Html ticks;
  for (double part : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
    ticks += html("<line class=\"{}\" x1=\"{}\" x2=\"{}\" y1=\"14\" y2=\"84\"/>"
                  "<text class=\"tick\" x=\"{}\" y=\"102\">{}</text>",
                  part == 0 ? "zero" : "grid", coordinate(axis.at(part * reach)),
                  coordinate(axis.at(part * reach)), coordinate(axis.at(part * reach)),
                  part == 0 ? "0" : percent_text(part * reach));
  }
  const std::string at = coordinate(axis.at(finite_or(predicted, 0)));
  const std::string verdict(hypothesis.verdict ? hypotheses::to_text(*hypothesis.verdict) : "");
  return html(
      "<svg class=\"chart {}\" viewBox=\"0 0 640 122\" role=\"img\" aria-label=\"predicted and "
      "measured effect\">{}"
      "<text class=\"label\" x=\"84\" y=\"36\" text-anchor=\"end\">predicted</text>"
      "<text class=\"label\" x=\"84\" y=\"66\" text-anchor=\"end\">measured</text>"
      "<path class=\"predicted\" d=\"M{} 24 l7 8 l-7 8 l-7 -8 z\"/>{}"
      "<text class=\"tick end\" x=\"604\" y=\"118\">better →</text>"
      "<text class=\"tick start\" x=\"96\" y=\"118\">← worse</text></svg>",
      verdict, ticks, at, measured);
}

Html pair_plot(const std::vector<PairRow>& pairs, const std::optional<Evidence>& evidence) {
  double reach = 0.01;
  int last = 1, shown = 0;
  for (const PairRow& pair : pairs) {
    last = std::max(last, pair.attempt + 1);
    if (!pair.log_ratio) continue;
    reach = std::max(reach, std::abs(*pair.log_ratio));
    ++shown;
  }
  if (shown == 0) return {};
  reach = round_reach(std::min(reach, 3.0));
  const Axis axis{reach, 138, 12};  // up is more
  const double left = 70, right = 628;
  Html marks;
  for (double part : {-1.0, -0.5, 0.0, 0.5, 1.0}) {
    const std::string y = coordinate(axis.at(part * reach));
    marks += html("<line class=\"{}\" x1=\"70\" x2=\"628\" y1=\"{}\" y2=\"{}\"/>"
                  "<text class=\"tick end\" x=\"62\" y=\"{}\">{}</text>",
                  part == 0 ? "zero" : "grid", y, y, coordinate(axis.at(part * reach) + 4),
                  part == 0 ? "0" : percent_text(part * reach));
  }
  if (evidence && std::isfinite(evidence->low) && std::isfinite(evidence->high)) {
    const double a = axis.at(oriented(evidence->low, evidence->better));
    const double b = axis.at(oriented(evidence->high, evidence->better));
    const std::string y = coordinate(axis.at(oriented(evidence->effect, evidence->better)));
    marks += html("<rect class=\"interval\" x=\"70\" width=\"558\" y=\"{}\" height=\"{}\"/>"
                  "<line class=\"estimate\" x1=\"70\" x2=\"628\" y1=\"{}\" y2=\"{}\"/>",
                  coordinate(std::min(a, b)), coordinate(std::max(std::abs(a - b), 1.0)), y, y);
  }
  const std::string unit = evidence ? evidence->unit : "";
  for (const PairRow& pair : pairs) {
    if (!pair.log_ratio) continue;
    const double x = left + (pair.attempt + 0.5) * (right - left) / last;
    marks += html("<circle class=\"dot\" cx=\"{}\" cy=\"{}\" r=\"4\"><title>pair {}: base {}, "
                  "candidate {}, {}</title></circle>",
                  coordinate(x), coordinate(axis.at(*pair.log_ratio)), pair.attempt + 1,
                  number_text(*pair.base, unit), number_text(*pair.candidate, unit),
                  percent_text(*pair.log_ratio));
  }
  return html("<figure><svg class=\"chart pairs\" viewBox=\"0 0 640 150\" role=\"img\" "
              "aria-label=\"change in each pair\">{}</svg><figcaption>candidate against base, a dot "
              "for each of {} pairs in the order in which they ran{}{}</figcaption></figure>",
              marks, shown, evidence ? "; the band is the interval; " : "",
              evidence ? sense(evidence->better) : std::string_view());
}

}  // namespace web

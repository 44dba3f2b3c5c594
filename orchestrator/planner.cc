#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/rng.h"
#include "orchestrator/planner.h"
#include "orchestrator/questions.h"

namespace orchestrator {

using hypotheses::Knob;
using hypotheses::Verdict;

namespace {

constexpr double kFirstGuess = 0.10;  // predicted gain of a knob of which nothing is known
constexpr double kHopeless = 0.10;  // a value refuted by more is not tried beside another incumbent

struct Move {
  const Knob* knob = nullptr;
  std::string value;
  double rank = 0;
};

std::optional<double> number(const std::string& text) {
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Choices that are all numbers have sides: below and above the current value.
bool ordered(const Knob& knob) {
  return std::all_of(knob.choices.begin(), knob.choices.end(),
                     [](const std::string& choice) { return number(choice).has_value(); });
}

const hypotheses::KnobSetting* only_knob(const PastClaim& past) {
  return past.change.knobs.size() == 1 && past.change.edits.empty() ? &past.change.knobs.front()
                                                                    : nullptr;
}

bool tried_beside_this(const PlannerView& view,
                       const std::map<std::string, std::string>& settings) {
  if (view.knobs_only && settings == view.base_settings) return true;  // what it all began with
  return std::any_of(view.history.begin(), view.history.end(), [&](const PastClaim& past) {
    return past.same_base && past.knobs_only == view.knobs_only && past.settings == settings;
  });
}

// Same knob, from the same incumbent, refuted on the same side and nearer: going further is
// unlikely to help.
bool beyond_a_refuted(const PlannerView& view, const Knob& knob, const std::string& value) {
  if (!ordered(knob)) return false;
  auto current = view.settings.find(knob.name);
  if (current == view.settings.end() || !number(current->second)) return false;
  double from = *number(current->second), to = *number(value);
  return std::any_of(view.history.begin(), view.history.end(), [&](const PastClaim& past) {
    const auto* setting = only_knob(past);
    if (setting == nullptr || setting->knob != knob.name || past.parent != view.incumbent ||
        past.verdict != Verdict::refuted || !past.same_base || !number(setting->value)) {
      return false;
    }
    double refuted = *number(setting->value);
    return (refuted > from) == (to > from) && std::abs(refuted - from) < std::abs(to - from);
  });
}

// The value of the knob from which a past claim moved away.
std::string moved_from(const PlannerView& view, const PastClaim& past, const std::string& knob) {
  for (const PastClaim& parent : view.history) {
    if (parent.id == past.parent) {
      auto value = parent.settings.find(knob);
      return value == parent.settings.end() ? "" : value->second;
    }
  }
  auto base = view.base_settings.find(knob);
  return base == view.base_settings.end() ? "" : base->second;
}

// How this value did beside other incumbents of the same base: fresh ones first, the clearly bad
// never.
std::optional<double> standing(const PlannerView& view, const Knob& knob,
                               const std::string& value) {
  double rank = 2;
  for (const PastClaim& past : view.history) {
    const auto* setting = only_knob(past);
    if (setting == nullptr || setting->knob != knob.name || !past.same_base) continue;
    if (past.verdict == Verdict::supported) {
      rank += 0.5;  // the knob matters,
      if (moved_from(view, past, knob.name) == value)
        rank -= 2.5;  // but this value was left behind
    }
    if (setting->value != value || past.verdict == Verdict::supported) continue;
    if (past.verdict == Verdict::refuted && past.effect < -kHopeless) return {};
    rank -= past.verdict == Verdict::refuted ? 2 : 1;
  }
  return rank;
}

// A knob that the goal's probe does not cover can only be judged on something else.
bool bears_on_goal(const PlannerView& view, const Knob& knob) {
  const auto* probe = probe_of_metric(view.manifest, view.goal.metric);
  return probe == nullptr || hypotheses::covers(*probe, {}, {knob.name});
}

std::vector<Move> moves(const PlannerView& view) {
  std::vector<Move> list;
  base::Rng rng(base::seed_from(view.seed, fmt::format("turn {}", view.turn)));
  for (const auto& [name, knob] : view.manifest.knobs) {
    if (!bears_on_goal(view, knob)) continue;
    std::vector<std::string> choices = knob.choices;
    std::sort(choices.begin(), choices.end());  // the manifest's order means nothing
    for (const std::string& value : choices) {
      double luck = rng.uniform();  // drawn for each, so that one exclusion shifts no other
      auto settings = view.settings;
      if (settings[name] == value) continue;
      settings[name] = value;
      if (tried_beside_this(view, settings)) continue;
      auto rank = standing(view, knob, value);
      if (!rank) continue;
      if (beyond_a_refuted(view, knob, value)) *rank -= 1.5;
      list.push_back({&knob, value, *rank + luck});
    }
  }
  return list;
}

// What changes of this knob brought where they were supported, else a first guess.
double expected_gain(const PlannerView& view, const std::string& knob) {
  std::vector<double> gains;
  for (const PastClaim& past : view.history) {
    const auto* setting = only_knob(past);
    if (setting != nullptr && setting->knob == knob && past.verdict == Verdict::supported) {
      gains.push_back(past.effect);
    }
  }
  if (gains.empty()) return -std::log1p(-kFirstGuess);
  std::nth_element(gains.begin(), gains.begin() + gains.size() / 2, gains.end());
  return gains[gains.size() / 2];
}

}  // namespace

Step next_step(const PlannerView& view) {
  std::vector<Move> list = moves(view);
  if (list.empty()) {
    return Stop{"every setting of the knobs that is one step away was tried or is not promising"};
  }
  const Move& move = *std::max_element(
      list.begin(), list.end(), [](const Move& a, const Move& b) { return a.rank < b.rank; });
  const hypotheses::Metric* metric = view.manifest.metric(view.goal.metric);
  bool lower = metric == nullptr || metric->better == hypotheses::Better::lower;
  double gain = expected_gain(view, move.knob->name);
  // Said to a person, so whole percents, and never none.
  double percent = std::round(100 * std::expm1(lower ? -gain : gain));
  percent = lower ? std::min(percent, -1.0) : std::max(percent, 1.0);

  Proposal proposal;
  auto current = view.settings.find(move.knob->name);
  proposal.claim = fmt::format("{} = {} instead of {} makes {} {}", move.knob->name, move.value,
                               current == view.settings.end() ? "?" : current->second,
                               to_text(view.goal), lower ? "lower" : "higher");
  bool launch = move.knob->when == hypotheses::KnobTime::launch;
  proposal.subject = {
      launch ? hypotheses::SubjectKind::launch_parameter : hypotheses::SubjectKind::kernel,
      move.knob->name.substr(0, move.knob->name.find('.'))};
  proposal.change.knobs = {{move.knob->name, move.value}};
  proposal.prediction = {view.goal, std::log1p(percent / 100)};
  return proposal;
}

}  // namespace orchestrator

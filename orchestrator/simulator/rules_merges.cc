// What lands is what was measured and approved, commit for commit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "orchestrator/simulator/rules.h"

namespace orchestrator {

using hypotheses::Answer;
using hypotheses::MergeState;
using hypotheses::Question;
using hypotheses::Verdict;

namespace {

constexpr const char* kLevel = "confirmation-level";

const SeenHypothesis& winner_of(const Ledger& ledger, const SeenMerge& merge) {
  return ledger.hypotheses.at(merge.opened.hypothesis);
}

// The gain of M itself, on pairs of its own, at the level that was fixed when the claim was made.
void check_confirmation(const RuleContext& context, const SeenMerge& merge) {
  std::string id = merge.opened.id.text();
  double level = winner_of(context.ledger, merge).opened.merge_level;
  const Answer* own = nullptr;
  for (const Answer& answer : merge.answers) {
    if (answer.question == Question::own_metric) own = &answer;
  }
  if (own == nullptr || !own->experiment || own->verdict != Verdict::supported) {
    context.broken(kLevel, id + " waits without a confirmed gain");
    return;
  }
  const auto& experiment = context.ledger.experiments.at(own->experiment);
  if (experiment.started.merge != merge.opened.id || !experiment.started.fresh_build) {
    context.broken(kLevel, fmt::format("{} is confirmed by {}, which is no fresh measurement of it",
                                       id, own->experiment.text()));
    return;
  }
  const auto* metric =
      context.ledger.nights.at(merge.opened.night).manifest->metric(experiment.started.key.metric);
  auto x = log_ratios(experiment, metric->better);
  if (metric->exact && !x.empty()) return;
  auto gains = std::count_if(x.begin(), x.end(), [](double v) { return v > 0; });
  double shown = std::ldexp(1, static_cast<int>(gains));
  double claimed = own->evidence ? own->evidence->e_better : 0;
  if (std::min(shown, claimed) < (1 - 1e-9) / level) {
    context.broken(kLevel, fmt::format("{} is confirmed with an e-value of {:.3g} and {} gains; "
                                       "its level {:.3g} needs {:.3g}",
                                       id, claimed, gains, level, 1 / level));
  }
}

// e-LOND: levels add up to at most the share of false discoveries, times discoveries + 1.
void check_level(const RuleContext& context, const hypotheses::Hypothesis& hypothesis) {
  const auto& campaign = context.ledger.campaigns.at(hypothesis.campaign);
  double fdr = campaign.policy.merge.fdr;
  double spent = campaign.level_spent + hypothesis.merge_level / (campaign.confirmed + 1);
  if (!(hypothesis.merge_level > 0) || spent > fdr * (1 + 1e-9)) {
    context.broken(kLevel, fmt::format("{} gets level {:.3g}; with the earlier ones {:.3g} of {}",
                                       hypothesis.id.text(), hypothesis.merge_level, spent, fdr));
  }
}

void check_change(const RuleContext& context, const hypotheses::MergeChanged& change) {
  const SeenMerge& merge = context.ledger.merges.at(change.merge);
  if (change.state != MergeState::waiting || merge.state != MergeState::measuring) return;
  if (auto why = untested(context.ledger, merge); !why.empty()) {
    context.broken(kUntested, change.merge.text() + " waits for approval, but " + why);
  }
  check_confirmation(context, merge);
}

}  // namespace

std::string untested(const Ledger& ledger, const SeenMerge& merge) {
  bool measured = false;
  for (const Answer& answer : merge.answers) {
    if (answer.verdict != Verdict::supported) {
      return fmt::format("{} is {}", to_text(answer.question), to_text(answer.verdict));
    }
    if (!answer.experiment) continue;
    const auto& started = ledger.experiments.at(answer.experiment).started;
    if (started.candidate != merge.merged || started.base != merge.base) {
      return answer.experiment.text() + " measured another commit";
    }
    measured |= answer.question == Question::own_metric;
  }
  if (!measured) return fmt::format("{} was not measured", merge.merged.brief());
  bool needs_build = !ledger.nights.at(merge.opened.night).manifest->build.empty();
  bool built = std::any_of(merge.answers.begin(), merge.answers.end(),
                           [](const Answer& a) { return a.question == Question::builds; });
  return needs_build && !built ? "nobody saw it build" : "";
}

void check_merges(const RuleContext& context, const hypotheses::Fact& fact) {
  if (const auto* opened = std::get_if<hypotheses::HypothesisOpened>(&fact)) {
    check_level(context, opened->hypothesis);
  }
  if (const auto* change = std::get_if<hypotheses::MergeChanged>(&fact)) {
    check_change(context, *change);
  }
  if (const auto* approved = std::get_if<hypotheses::MergeApproved>(&fact)) {
    const SeenMerge& merge = context.ledger.merges.at(approved->merge);
    if (approved->commit != merge.merged || merge.state != MergeState::waiting) {
      context.broken(kUnapproved, fmt::format("{} is approved at {} while it is {} at {}",
                                              approved->merge.text(), approved->commit.brief(),
                                              to_text(merge.state), merge.merged.brief()));
    }
  }
}

void check_merges(const RuleContext& context, const Effect& effect) {
  const auto* land = std::get_if<LandMerge>(&effect.kind);
  if (land == nullptr) return;
  const SeenMerge& merge = context.ledger.merges.at(land->merge);
  if (merge.state != MergeState::approved || merge.approved != merge.merged) {
    context.broken(kUnapproved, fmt::format("{} is to land while it is {}", land->merge.text(),
                                            to_text(merge.state)));
  }
  if (auto why = untested(context.ledger, merge); !why.empty()) {
    context.broken(kUntested, land->merge.text() + " is to land, but " + why);
  }
}

}  // namespace orchestrator

// What may begin before what, for whom, and when.
#include <fmt/format.h>

#include <algorithm>

#include "orchestrator/simulator/rules.h"

namespace orchestrator {

using hypotheses::Alternative;
using hypotheses::Answer;
using hypotheses::CampaignState;
using hypotheses::Experiment;
using hypotheses::Question;
using hypotheses::Verdict;

namespace {

constexpr const char* kBefore = "builds-before-correct-before-speed";
constexpr const char* kCheaper = "no-costlier-before-cheaper";
constexpr const char* kOneNight = "one-night-at-a-time";
constexpr const char* kPaused = "paused-starts-nothing";
constexpr const char* kProtected = "protected-paths";

bool supported(const std::vector<Answer>& answers, Question question) {
  return std::any_of(answers.begin(), answers.end(), [&](const Answer& answer) {
    return answer.question == question && answer.verdict == Verdict::supported;
  });
}

// The simulated targets have checks that cover all of their code.
void check_gates(const RuleContext& context, const Experiment& experiment) {
  if (!experiment.hypothesis && !experiment.merge) return;
  const auto& manifest = *context.ledger.nights.at(experiment.night).manifest;
  const auto& answers = experiment.merge
                            ? context.ledger.merges.at(experiment.merge).answers
                            : context.ledger.hypotheses.at(experiment.hypothesis).answers;
  if (experiment.question == Question::builds) return;
  if (!manifest.build.empty() && !supported(answers, Question::builds)) {
    context.broken(kBefore, experiment.id.text() + " begins before its candidate was built");
  }
  bool checked = std::any_of(manifest.probes.begin(), manifest.probes.end(), [](const auto& p) {
    return p.second.answers == hypotheses::ProbeKind::correctness;
  });
  if (experiment.question == Question::correct || !checked) return;
  if (!supported(answers, Question::correct)) {
    context.broken(kBefore, fmt::format("{} measures {} of what is not known to be correct",
                                        experiment.id.text(), to_text(experiment.key)));
  }
}

// Of what was weighed for the same question nothing that can answer costs less than the chosen.
void check_cheapest(const RuleContext& context, const Experiment& experiment) {
  if (experiment.alternatives.empty()) return;
  const auto& weighed = experiment.alternatives;
  auto chosen = std::find_if(weighed.begin(), weighed.end(), [&](const Alternative& a) {
    bool same_key = a.key.metric.empty() || a.key == experiment.key;
    return a.probe == experiment.probe && same_key;
  });
  if (chosen == weighed.end() || !chosen->can_answer) {
    context.broken(kCheaper, fmt::format("{} runs {}, which cannot answer", experiment.id.text(),
                                         experiment.probe));
    return;
  }
  for (const Alternative& other : weighed) {
    if (!other.can_answer || other.question != experiment.question) continue;
    if (other.cost_s < chosen->cost_s * (1 - 1e-9)) {
      context.broken(kCheaper, fmt::format("{} runs {} for {:.2f} s; {} answers for {:.2f} s",
                                           experiment.id.text(), chosen->probe, chosen->cost_s,
                                           other.probe, other.cost_s));
    }
  }
}

// Written without the glob that the daemon uses.
bool is_protected(const std::string& path) {
  return path == "nightshift.yaml" || path.starts_with("bench/") ||
         path.find("..") != std::string::npos || path.find("//") != std::string::npos;
}

void check_paths(const RuleContext& context, const hypotheses::Hypothesis& opened) {
  // Before any manifest was read only the gate can tell.
  if (!context.ledger.campaigns.at(opened.campaign).has_manifest) return;
  for (const auto& edit : opened.change.edits) {
    if (is_protected(edit.path)) {
      context.broken(kProtected,
                     fmt::format("{} is taken although it edits {}", opened.id.text(), edit.path));
    }
  }
}

void check_active(const RuleContext& context, hypotheses::CampaignId id, const std::string& what) {
  CampaignState state = context.ledger.campaigns.at(id).state;
  if (state == CampaignState::active) return;
  context.broken(kPaused,
                 fmt::format("{} begins in {}, which is {}", what, id.text(), to_text(state)));
}

}  // namespace

void check_order(const RuleContext& context, const hypotheses::Fact& fact) {
  if (const auto* started = std::get_if<hypotheses::ExperimentStarted>(&fact)) {
    const Experiment& experiment = started->experiment;
    check_gates(context, experiment);
    check_cheapest(context, experiment);
    check_active(context, experiment.campaign, experiment.id.text());
    if (!experiment.hypothesis) return;
    for (const auto& path : context.ledger.hypotheses.at(experiment.hypothesis).paths) {
      if (is_protected(path)) {
        context.broken(kProtected,
                       experiment.id.text() + " measures a candidate that changes " + path);
      }
    }
  }
  if (const auto* opened = std::get_if<hypotheses::HypothesisOpened>(&fact)) {
    check_paths(context, opened->hypothesis);
  }
  if (const auto* taken = std::get_if<hypotheses::HypothesisTaken>(&fact)) {
    check_active(context, context.ledger.hypotheses.at(taken->hypothesis).opened.campaign,
                 "the work on " + taken->hypothesis.text());
  }
  if (const auto* started = std::get_if<hypotheses::NightStarted>(&fact)) {
    auto running = context.ledger.campaigns.at(started->night.campaign).running;
    if (running) {
      context.broken(kOneNight, fmt::format("{} begins while {} runs", started->night.id.text(),
                                            running.text()));
    }
  }
}

// A merge that is made anew since the base moved is a part of its landing, which a person asked
// for.
void check_order(const RuleContext& context, const Effect& effect) {
  bool finishes = std::holds_alternative<PrepareMerge>(effect.kind) ||
                  std::holds_alternative<LandMerge>(effect.kind) ||
                  std::holds_alternative<StopExperiment>(effect.kind);
  if (!finishes) {
    check_active(context, campaign_of(context.ledger, effect.kind),
                 "the effect " + effect.id.text());
  }
  const auto* open = std::get_if<OpenNight>(&effect.kind);
  if (open == nullptr) return;
  bool opening = std::any_of(context.ledger.pending.begin(), context.ledger.pending.end(),
                             [&](const auto& entry) {
                               const auto* other = std::get_if<OpenNight>(&entry.second);
                               return other != nullptr && other->campaign == open->campaign;
                             });
  if (opening || context.ledger.campaigns.at(open->campaign).running) {
    context.broken(kOneNight, "a second night is asked for in " + open->campaign.text());
  }
}

}  // namespace orchestrator

#include "orchestrator/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "orchestrator/broken_rule.h"
#include "policies/reach.h"

namespace orchestrator {

using hypotheses::Answer;
using hypotheses::Hypothesis;
using hypotheses::Layer;
using hypotheses::Manifest;
using hypotheses::MetricKey;
using hypotheses::Probe;
using hypotheses::ProbeKind;
using hypotheses::Question;
using hypotheses::Verdict;

namespace {

std::vector<std::string> knob_names(const hypotheses::Change& change) {
  std::vector<std::string> names;
  for (const auto& setting : change.knobs) names.push_back(setting.knob);
  return names;
}

// A knob change is covered through its knobs; the file in which they stand is no evidence of more.
// Before there is a candidate, the paths are those of the edits.
std::vector<std::string> covered_paths(const Hypothesis& hypothesis) {
  if (!hypothesis.change.knobs.empty()) return {};
  if (!hypothesis.paths.empty()) return hypothesis.paths;
  std::vector<std::string> paths;
  for (const auto& edit : hypothesis.change.edits) paths.push_back(edit.path);
  return paths;
}

bool probe_covers(const Probe& probe, const Hypothesis& hypothesis) {
  if (hypothesis.change.empty()) return true;  // a measurement of what is there
  return hypotheses::covers(probe, covered_paths(hypothesis), knob_names(hypothesis.change));
}

bool measures(const Probe& probe) {
  return probe.answers != ProbeKind::correctness && probe.answers != ProbeKind::timeline;
}

void add_guard(std::vector<Needed>& guards, const MetricKey& key, double margin) {
  auto same = [&](const Needed& needed) { return needed.key == key; };
  if (std::none_of(guards.begin(), guards.end(), same)) {
    guards.push_back({Question::guards, key, margin, 0});
  }
}

// The manifest's guards in all their conditions, then the other conditions of the predicted metric.
std::vector<Needed> guards_of(const Hypothesis& hypothesis, const Manifest& manifest,
                              const policies::Policy& policy) {
  std::vector<Needed> guards;
  auto add_all = [&](const std::string& metric, double margin) {
    const Probe* probe = probe_of_metric(manifest, metric);
    if (probe == nullptr || !measures(*probe) || !probe_covers(*probe, hypothesis)) return;
    for (const auto& conditions : hypotheses::combinations(*probe)) {
      MetricKey key{metric, conditions};
      if (key != hypothesis.prediction.key) add_guard(guards, key, margin);
    }
  };
  for (const auto& guard : manifest.guards) add_all(guard.metric, guard.margin);
  add_all(hypothesis.prediction.key.metric, policy.evidence.guard_margin);
  return guards;
}

}  // namespace

const Probe* probe_of_metric(const Manifest& manifest, const std::string& metric) {
  for (const auto& [name, probe] : manifest.probes) {
    if (probe.metrics.count(metric) != 0) return &probe;
  }
  return nullptr;
}

MetricKey complete_key(const Manifest& manifest, MetricKey key) {
  if (const Probe* probe = probe_of_metric(manifest, key.metric)) {
    for (const auto& [name, values] : probe->conditions) {
      if (!values.empty()) key.conditions.emplace(name, values.front());
    }
  }
  return key;
}

double oriented(const Manifest& manifest, const hypotheses::Prediction& prediction) {
  const hypotheses::Metric* metric = manifest.metric(prediction.key.metric);
  bool lower = metric == nullptr || metric->better == hypotheses::Better::lower;
  return lower ? -prediction.log_ratio : prediction.log_ratio;
}

std::vector<Needed> needed_questions(const Hypothesis& hypothesis, const Manifest& manifest,
                                     const policies::Policy& policy) {
  std::vector<Needed> needed;
  if (!manifest.build.empty()) needed.push_back({Question::builds, {}, 0, 0});
  bool checked = std::any_of(manifest.probes.begin(), manifest.probes.end(), [&](const auto& p) {
    return p.second.answers == ProbeKind::correctness && probe_covers(p.second, hypothesis);
  });
  if (checked && !broken(Rule::correct_is_asked)) needed.push_back({Question::correct, {}, 0, 0});

  double predicted = oriented(manifest, hypothesis.prediction);
  needed.push_back({Question::own_metric, hypothesis.prediction.key, 0, predicted});
  if (hypothesis.change.empty()) return needed;

  const Probe* goal_probe = probe_of_metric(manifest, manifest.goal.metric);
  bool goal_elsewhere = hypothesis.prediction.key.metric != manifest.goal.metric;
  if (goal_elsewhere && goal_probe != nullptr && measures(*goal_probe) &&
      probe_covers(*goal_probe, hypothesis)) {
    needed.push_back({Question::carries_over, complete_key(manifest, manifest.goal), 0, predicted});
  }
  for (Needed& guard : guards_of(hypothesis, manifest, policy)) {
    bool is_goal = std::any_of(needed.begin(), needed.end(), [&](const Needed& other) {
      return other.question == Question::carries_over && other.key == guard.key;
    });
    if (!is_goal) needed.push_back(std::move(guard));
  }
  return needed;
}

const Answer* answer_to(const Needed& needed, const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    if (answer.question != needed.question) continue;
    if (needed.question != Question::guards) return &answer;
    if (answer.evidence && answer.evidence->key == needed.key) return &answer;
  }
  return nullptr;
}

policies::Lineage lineage_of(const Hypothesis& hypothesis, const Manifest& manifest) {
  policies::Lineage lineage;
  lineage.origin = hypothesis.origin;
  if (const Probe* own = probe_of_metric(manifest, hypothesis.prediction.key.metric)) {
    lineage.layer = own->layer;
  }
  return lineage;
}

// The shares of the question's metric that the change touches, in each condition of it that is
// known.
static void add_shares(policies::OpenQuestion& open, const Manifest& manifest,
                       const std::vector<policies::MetricShares>& shares) {
  if (shares.empty() || open.key.metric.empty()) return;
  const policies::Touched touched{open.paths, open.knobs, open.lineage.layer};
  for (const auto& [name, probe] : manifest.probes) {
    if (probe.metrics.count(open.key.metric) == 0) continue;
    for (const auto& conditions : hypotheses::combinations(probe)) {
      const MetricKey key{open.key.metric, conditions};
      auto found = policies::share_of_change(shares, key, probe.layer, touched);
      if (found.known) open.share[to_text(key)] = found.share;
    }
  }
}

policies::OpenQuestion open_question(const Needed& needed, const Hypothesis& hypothesis,
                                     const Manifest& manifest,
                                     const std::vector<policies::MetricShares>& shares,
                                     bool built) {
  policies::OpenQuestion open;
  open.question = needed.question;
  open.key = needed.key;
  open.predicted = needed.predicted;
  open.margin = needed.margin;
  open.paths = covered_paths(hypothesis);
  open.knobs = knob_names(hypothesis.change);
  open.candidate_is_warm = built;
  open.change_is_empty = hypothesis.change.empty();
  open.lineage = lineage_of(hypothesis, manifest);
  add_shares(open, manifest, shares);
  return open;
}

OwnGain needed_own_gain(const Hypothesis& hypothesis, const Manifest& manifest,
                        const std::vector<policies::MetricShares>& shares,
                        const policies::Policy& policy) {
  for (const Needed& needed : needed_questions(hypothesis, manifest, policy)) {
    if (needed.question != Question::carries_over) continue;
    auto open = open_question(needed, hypothesis, manifest, shares, true);
    auto share = open.share.find(to_text(needed.key));
    if (share == open.share.end()) return {};
    auto rule = policies::rule_for_share(policy.evidence, share->second);
    if (!rule) {
      return {
          false,
          {},
          fmt::format("{} cannot gain the {:.3g}% that is needed: the change touches {:.2g}% of "
                      "its time, and {:g} times that would not do if it took no time at all",
                      to_text(needed.key), 100 * policy.evidence.min_gain, 100 * share->second,
                      policies::kShareDoubt)};
    }
    if (rule->min_gain > policy.evidence.min_gain * (1 + 1e-9)) return {true, rule->min_gain, ""};
  }
  return {};
}

std::optional<Settled> settle(const std::vector<Needed>& needed,
                              const std::vector<Answer>& answers) {
  std::optional<hypotheses::Evidence> own;
  std::string own_reason;
  if (const Answer* answer = answer_to({Question::own_metric, {}, 0, 0}, answers)) {
    own = answer->evidence;
    own_reason = answer->reason;
  }
  for (const Needed& question : needed) {
    const Answer* answer = answer_to(question, answers);
    if (answer == nullptr) return {};
    if (answer->verdict == Verdict::supported || broken(Rule::all_answers_count)) continue;
    std::string reason = answer->reason;
    if (question.question == Question::guards) {
      reason = "guard " + to_text(question.key) + ": " + reason;
    } else if (question.question == Question::carries_over) {
      reason = "does not carry over to " + to_text(question.key) + ": " + reason;
    }
    return Settled{answer->verdict, reason, own};
  }
  return Settled{Verdict::supported, own_reason, own};
}

std::string known_text(const hypotheses::MergeRequest& merge, const State& state) {
  std::string text =
      fmt::format("Merge {} against base {}, both from a fresh build:", merge.merged.brief(),
                  merge.base.brief());
  for (const Answer& answer : merge.answers) {
    std::string what(to_text(answer.question));
    if (answer.evidence && !answer.evidence->key.metric.empty()) {
      what += " (" + to_text(answer.evidence->key) + ")";
    }
    text += fmt::format("\n- {}: {}; {}", what, to_text(answer.verdict), answer.reason);
    auto found = state.experiments.find(answer.experiment);
    if (found != state.experiments.end() && !found->second.runs.empty() && answer.evidence) {
      text += " [" + found->second.runs.front().machine.machine + "]";
    }
  }
  return text;
}

std::string unknown_text(const Hypothesis& hypothesis, const Manifest& manifest) {
  std::string text;
  bool engine = std::any_of(manifest.probes.begin(), manifest.probes.end(), [&](const auto& p) {
    return p.second.layer == Layer::engine && measures(p.second) &&
           probe_covers(p.second, hypothesis);
  });
  if (!engine) {
    text +=
        "- What the whole engine gains is unknown: no engine-level probe covers this change; the "
        "evidence is from kernels alone.\n";
  }
  const Probe* own = probe_of_metric(manifest, hypothesis.prediction.key.metric);
  if (own != nullptr && !own->conditions.empty()) {
    std::string measured;
    for (const auto& [name, values] : own->conditions) {
      measured += fmt::format("{}{} other than {}", measured.empty() ? "" : ", ", name,
                              fmt::join(values, ", "));
    }
    text += "- Nothing was measured at " + measured + ".\n";
  }
  text += "- Other machines than the one named were not measured.";
  return text;
}

}  // namespace orchestrator

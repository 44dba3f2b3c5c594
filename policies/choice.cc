#include "policies/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "policies/evidence.h"
#include "policies/pairs.h"
#include "policies/phrase.h"
#include "policies/reach.h"

namespace policies {
namespace {

using hypotheses::Alternative;
using hypotheses::Conditions;
using hypotheses::Layer;
using hypotheses::Manifest;
using hypotheses::Metric;
using hypotheses::Probe;
using hypotheses::ProbeKind;
using hypotheses::Question;

// What is assumed of a metric whose noise nobody measured yet.
constexpr double kNoisePrior = 0.03;
// Identical A/A values of something that is no exact counter: a coarse clock, not the absence of
// noise.
constexpr double kLeastNoise = 1e-5;

// A handful of A/A pairs tells the noise within a factor of two, and a change may gain more than
// was predicted. So a question is refused beforehand only where it would take so many times the
// cap, which it does at half the noise too.
constexpr double kBeyondCap = 4;

// How far an alternative came before it failed, in the order of the checks; the farthest explains
// best why nothing can answer.
enum class Stage { kind, covers, layer, metric, conditions, resolvable, budget, can_answer };

struct Weighed {
  Alternative alternative;
  Stage stage = Stage::kind;
};

struct Weighing {
  const OpenQuestion& question;
  const Manifest& manifest;
  const Learned& learned;
  const Policy& policy;
  double remaining_s;

  std::vector<Weighed> table;

  void fail(Alternative alternative, Stage stage, std::string reason) {
    alternative.can_answer = false;
    alternative.reason = std::move(reason);
    table.push_back({std::move(alternative), stage});
  }
};

bool answers_kind(ProbeKind kind, Question question) {
  switch (question) {
    case Question::builds:
      return false;
    case Question::correct:
      return kind == ProbeKind::correctness;
    case Question::own_metric:
      return kind == ProbeKind::counters || kind == ProbeKind::speed;
    case Question::carries_over:
      return kind == ProbeKind::speed || kind == ProbeKind::serving;
    case Question::guards:
      return kind == ProbeKind::counters || kind == ProbeKind::speed || kind == ProbeKind::serving;
  }
  return false;
}

template <class T>
double learned_or(const std::map<std::string, T>& values, const std::string& key,
                  double otherwise) {
  const auto found = values.find(key);
  return found == values.end() ? otherwise : found->second;
}

std::string change_text(const OpenQuestion& question) {
  std::string list;
  const auto add = [&](const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
  for (const std::string& path : question.paths) add(path);
  for (const std::string& knob : question.knobs) add("knob " + knob);
  return list.empty() ? "no file and no knob" : list;
}

bool contains(const Conditions& all, const Conditions& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& item) {
    const auto found = all.find(item.first);
    return found != all.end() && found->second == item.second;
  });
}

// The last checks: does what it would cost fit into what is left?
void admit(Weighing& weighing, Alternative alternative, std::string reason) {
  if (alternative.cost_s > weighing.remaining_s) {
    weighing.fail(alternative, Stage::budget,
                  fmt::format("would cost {:.1f} s; {:.1f} s of the budget are left",
                              alternative.cost_s, std::max(0.0, weighing.remaining_s)));
    return;
  }
  alternative.can_answer = true;
  alternative.reason = std::move(reason);
  weighing.table.push_back({std::move(alternative), Stage::can_answer});
}

Builds builds_for(const OpenQuestion& question) {
  if (question.candidate_is_warm) return Builds::none;
  return question.fresh_build ? Builds::both : Builds::candidate;
}

// What the question's evidence is judged by: an own metric that has to carry over may need more
// than the policy's minimum gain.
EvidenceRule rule_of(const OpenQuestion& question, const Policy& policy) {
  return question.min_gain > 0 ? rule_for_gain(policy.evidence, question.min_gain)
                               : policy.evidence;
}

// The oriented effect that is expected at the metric: of a guard its margin, else the prediction,
// shrunk by what such predictions turned out to be, and diluted by the share. In the sense of a
// time a gain is negative, which is what Amdahl's law is about.
double expected_effect(const OpenQuestion& question, hypotheses::Better better,
                       const Learned& learned, double share) {
  if (question.question == Question::guards) return -worst_allowed(question.margin, better);
  const double predicted = std::fabs(question.predicted) * shrink(learned.track, question.lineage);
  return -diluted(-predicted, share);
}

// A probe's metric in one of its conditions: share, noise, pairs, cost, and is it resolvable?
void weigh_condition(Weighing& weighing, const Probe& probe, const Metric& metric,
                     Alternative alternative) {
  const OpenQuestion& question = weighing.question;
  const Learned& learned = weighing.learned;
  const EvidenceRule rule = rule_of(question, weighing.policy);
  const std::string key = to_text(alternative.key);
  const bool noise_is_known = learned.noise.contains(key);
  const bool is_guard = question.question == Question::guards;
  alternative.share = learned_or(question.share, key, 1);
  if (!metric.exact) {
    const double seen = learned_or(learned.seen_noise, key, kNoisePrior);
    alternative.noise = std::max(learned_or(learned.noise, key, seen), kLeastNoise);
  }
  const double effect = expected_effect(question, metric.better, learned, alternative.share);
  const double level = question.level > 0 ? question.level : rule.alpha;
  const double to_settle =
      is_guard ? expected_guard_pairs(question.margin, metric.better, alternative.noise, rule)
               : pairs_to_settle(effect, alternative.noise, rule, level);
  const double p_real = 1 - p_refuting(learned.track, question.lineage, question.question).mean();
  const double cap = rule.max_pairs;
  alternative.pairs = is_guard ? std::min(to_settle, cap)
                               : expected_pairs(effect, alternative.noise, p_real, rule, level);
  const std::string what = fmt::format(
      "a {} {} at {} noise needs {} pairs",
      percent_text(is_guard ? question.margin : std::expm1(effect)), is_guard ? "margin" : "effect",
      percent_text(alternative.noise), count_text(to_settle));
  alternative.cost_s =
      expected_cost_s(probe, alternative.pairs, builds_for(question), learned, weighing.policy);
  if (noise_is_known && to_settle > kBeyondCap * cap) {
    alternative.pairs = to_settle;
    weighing.fail(alternative, Stage::resolvable,
                  fmt::format("{}; the cap is {}", what, rule.max_pairs));
    return;
  }
  admit(weighing, alternative,
        metric.exact ? "an exact counter needs one pair"
                     : what + (noise_is_known ? "" : " (noise not measured yet, assumed)"));
}

// All conditions of a probe that agree with the question's, each an alternative of its own.
void weigh_metric(Weighing& weighing, const Probe& probe, Alternative alternative) {
  const OpenQuestion& question = weighing.question;
  const auto metric = probe.metrics.find(question.key.metric);
  if (metric == probe.metrics.end()) {
    weighing.fail(alternative, Stage::metric, "does not emit " + question.key.metric);
    return;
  }
  alternative.key.metric = question.key.metric;
  bool any = false;
  for (const Conditions& conditions : combinations(probe)) {
    if (!contains(conditions, question.key.conditions)) continue;
    any = true;
    alternative.key.conditions = conditions;
    weigh_condition(weighing, probe, metric->second, alternative);
  }
  if (!any) {
    weighing.fail(alternative, Stage::conditions,
                  "is not run in the condition " + hypotheses::to_text(question.key.conditions));
  }
}

// One run of the candidate in each condition; a check needs no pairs.
void weigh_check(Weighing& weighing, const Probe& probe, Alternative alternative) {
  const double runs = static_cast<double>(std::max<std::size_t>(1, combinations(probe).size()));
  alternative.pairs = 1;
  alternative.cost_s = expected_cost_s(probe, runs / 2, builds_for(weighing.question),
                                       weighing.learned, weighing.policy);
  admit(weighing, alternative, "checks what was changed");
}

// The checks in the order of Stage.
void weigh_probe(Weighing& weighing, const Probe& probe) {
  const OpenQuestion& question = weighing.question;
  Alternative alternative;
  alternative.probe = probe.name;
  alternative.question = question.question;
  if (!answers_kind(probe.answers, question.question)) {
    weighing.fail(alternative, Stage::kind,
                  fmt::format("answers {}, not whether the change {}", to_text(probe.answers),
                              question.question == Question::correct ? "is correct" : "gains"));
    return;
  }
  if (!question.change_is_empty && !covers(probe, question.paths, question.knobs)) {
    weighing.fail(alternative, Stage::covers, "does not cover " + change_text(question));
    return;
  }
  if (question.question == Question::correct) {
    weigh_check(weighing, probe, alternative);
    return;
  }
  if (question.question == Question::own_metric && probe.layer != question.lineage.layer) {
    weighing.fail(alternative, Stage::layer,
                  fmt::format("measures the {}; the claim is about the {}", to_text(probe.layer),
                              to_text(question.lineage.layer)));
    return;
  }
  weigh_metric(weighing, probe, alternative);
}

void weigh_build(Weighing& weighing) {
  Alternative alternative;
  alternative.probe = std::string(hypotheses::kBuildProbe);
  alternative.question = Question::builds;
  alternative.pairs = 1;
  alternative.cost_s =
      expected_cost_s(Probe(), 0, weighing.question.fresh_build ? Builds::both : Builds::candidate,
                      weighing.learned, weighing.policy);
  admit(weighing, alternative, "the manifest's build commands");
}

std::string why_chosen(const std::vector<Weighed>& able) {
  const Alternative& best = able.front().alternative;
  const std::string key = best.key.metric.empty() ? "" : " on " + to_text(best.key);
  std::string reason =
      fmt::format("{}{} costs about {:.1f} s ({})", best.probe, key, best.cost_s, best.reason);
  if (able.size() > 1) {
    const Alternative& next = able[1].alternative;
    reason +=
        fmt::format(", the cheapest of {} that can answer; next is {} at {:.1f} s", able.size(),
                    next.key.metric.empty() ? next.probe : next.probe + " on " + to_text(next.key),
                    next.cost_s);
  } else {
    reason += ", the only one that can answer";
  }
  return reason;
}

std::string why_nothing(const Weighing& weighing, const std::vector<Weighed>& unable) {
  const OpenQuestion& question = weighing.question;
  if (unable.empty()) return "the manifest has no probes";
  const auto farthest =
      std::max_element(unable.begin(), unable.end(),
                       [](const Weighed& a, const Weighed& b) { return a.stage < b.stage; });
  if (farthest->stage == Stage::kind) {
    return fmt::format("no probe of the manifest answers \"{}\"", to_text(question.question));
  }
  if (farthest->stage == Stage::covers) {
    return fmt::format("no probe that answers \"{}\" covers {}", to_text(question.question),
                       change_text(question));
  }
  return fmt::format("nothing can answer \"{}\"; nearest is {}: {}", to_text(question.question),
                     farthest->alternative.probe, farthest->alternative.reason);
}

}  // namespace

Choice choose_experiment(const OpenQuestion& question, const Manifest& manifest,
                         const Learned& learned, const Policy& policy, double remaining_s) {
  Weighing weighing{question, manifest, learned, policy, remaining_s, {}};
  if (question.question == Question::builds) {
    weigh_build(weighing);
  } else {
    for (const auto& [name, probe] : manifest.probes) weigh_probe(weighing, probe);
  }
  const auto first_unable = std::stable_partition(
      weighing.table.begin(), weighing.table.end(),
      [](const Weighed& weighed) { return weighed.stage == Stage::can_answer; });
  std::vector<Weighed> able(weighing.table.begin(), first_unable);
  const std::vector<Weighed> unable(first_unable, weighing.table.end());
  std::stable_sort(able.begin(), able.end(), [](const Weighed& a, const Weighed& b) {
    return a.alternative.cost_s < b.alternative.cost_s;
  });

  Choice choice;
  choice.reason = able.empty() ? why_nothing(weighing, unable) : why_chosen(able);
  for (const Weighed& weighed : able) choice.alternatives.push_back(weighed.alternative);
  for (const Weighed& weighed : unable) choice.alternatives.push_back(weighed.alternative);
  if (!able.empty()) choice.chosen = choice.alternatives.front();
  return choice;
}

double expected_run_s(const Probe& probe, const Learned& learned) {
  const double layer_prior_s = probe.layer == Layer::kernel      ? 1
                               : probe.layer == Layer::component ? 5
                                                                 : 20;
  const double prior_s = std::min(layer_prior_s, probe.timeout_s / 2);
  const auto seen = learned.run.find(probe.name);
  return seen == learned.run.end() ? prior_s : seen->second.typical_s(prior_s);
}

double expected_build_s(bool cold, const Learned& learned) {
  constexpr double kBuildPrior_s = 30;
  const double warm_s = learned.build_warm.typical_s(
      learned.build_cold.known() ? learned.build_cold.typical_s(kBuildPrior_s) : kBuildPrior_s);
  if (!cold) return warm_s;
  return std::max(warm_s, learned.build_cold.typical_s(kBuildPrior_s));
}

double expected_cost_s(const Probe& probe, double pairs, Builds builds, const Learned& learned,
                       const Policy& policy) {
  double build_s = 0;
  if (builds == Builds::candidate) build_s = expected_build_s(false, learned);
  if (builds == Builds::both) build_s = 2 * expected_build_s(true, learned);
  const double price =
      probe.resources.cores * policy.core_price + probe.resources.gpus * policy.gpu_price;
  return build_s * policy.core_price + 2 * pairs * expected_run_s(probe, learned) * price;
}

}  // namespace policies

#include "policies/bench/nightshift.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "policies/choice.h"
#include "policies/hopeless.h"
#include "policies/order.h"
#include "policies/reach.h"

namespace policies::bench {
namespace {

using hypotheses::Layer;
using hypotheses::Question;
using hypotheses::Verdict;

constexpr Layer kProbed[] = {Layer::kernel, Layer::component, Layer::engine};
const char* const kMetrics[] = {"kernel.time", "component.time", "engine.time"};
const hypotheses::Metric kTime{"time", hypotheses::Better::lower, "s", false, {}};

std::size_t index_of(Layer layer) { return static_cast<std::size_t>(layer); }

// What the target of the benchmark offers: one check, and a probe for each layer.
hypotheses::Manifest make_manifest() {
  hypotheses::Manifest manifest;
  hypotheses::Probe check;
  check.name = "check";
  check.answers = hypotheses::ProbeKind::correctness;
  manifest.probes["check"] = check;
  for (Layer layer : kProbed) {
    hypotheses::Probe probe;
    probe.name = std::string(to_text(layer)) + ".bench";
    probe.layer = layer;
    probe.answers =
        layer == Layer::engine ? hypotheses::ProbeKind::serving : hypotheses::ProbeKind::speed;
    if (layer == Layer::engine) probe.timeout_s = 300;
    hypotheses::Metric metric = kTime;
    metric.name = kMetrics[index_of(layer)];
    probe.metrics[metric.name] = metric;
    if (layer == Layer::engine) probe.metrics["engine.guard"] = kTime;
    manifest.probes[probe.name] = probe;
  }
  manifest.goal.metric = kMetrics[2];
  return manifest;
}

// One campaign at a time: its machine's noise, its confirmations.
class Nights {
 public:
  Nights(const World& world, Lab& lab, const NightshiftSettings& settings)
      : world_(world), lab_(lab), settings_(settings), manifest_(make_manifest()) {
    policy_.evidence = settings.rule;
    if (!settings.sequential) {
      policy_.evidence.min_pairs = policy_.evidence.max_pairs = settings.fixed_pairs;
    }
  }

  std::vector<Outcome> decide_all() {
    outcomes_.resize(world_.cases.size());
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < world_.cases.size(); ++i) {
      open.push_back(i);
      const bool last = i + 1 == world_.cases.size();
      if (last || world_.cases[i + 1].campaign != world_.cases[i].campaign) {
        run_campaign(std::move(open));
        open.clear();
      }
    }
    return std::move(outcomes_);
  }

 private:
  // What is known about one hypothesis while it is under test.
  struct Test {
    const Case* subject = nullptr;
    std::optional<EvidenceRule> own_rule;  // none: the goal is out of reach
    std::vector<Question> open;
  };

  void run_campaign(std::vector<std::size_t> open);
  Outlook outlook_of(const Case& subject);
  Outcome decide(const Case& subject);
  OpenQuestion open_question(const Test& test, Question question) const;
  PricedQuestion priced(const Test& test, Question question) const;
  Verdict ask(Test& test, Question question);
  Verdict ask_own(const Test& test, BuildOf build, double level);
  Verdict ask_goal(const Test& test);
  Verdict measure_goal(const Case& subject, BuildOf build, double level);
  double noise(const Case& subject, Layer layer);
  void learn_run(Layer layer);
  PriceOfGoingOn price(Layer layer) const;

  const World& world_;
  Lab& lab_;
  const NightshiftSettings& settings_;
  hypotheses::Manifest manifest_;
  Policy policy_;
  Learned learned_;
  int confirmations_ = 0, confirmed_ = 0;  // of this campaign
  std::vector<Outcome> outcomes_;
};

// Hypotheses of one lineage with about the same prediction share an outlook.
void Nights::run_campaign(std::vector<std::size_t> open) {
  confirmations_ = confirmed_ = 0;
  learned_.noise.clear();
  std::vector<std::size_t> waiting = std::move(open);
  while (!waiting.empty()) {
    std::vector<Outlook> outlooks;
    std::vector<Queued> queue;
    for (std::size_t index : waiting) {
      const Case& subject = world_.cases[index];
      outlooks.push_back(outlook_of(subject));
      queue.push_back({outlooks.size() - 1, subject.predicted,
                       subject.lineage.origin == hypotheses::Origin::person});
    }
    const std::size_t best = *best_queued(queue, outlooks);
    outcomes_[waiting[best]] = decide(world_.cases[waiting[best]]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(best));
  }
}

Outlook Nights::outlook_of(const Case& subject) {
  Outlook made;
  const Track& track = learned_.track;
  const Beta own = p_refuting(track, subject.lineage, Question::own_metric);
  const Beta goal = p_refuting(track, subject.lineage, Question::carries_over);
  made.p_supported = made.p_hopeful = (1 - own.mean()) * (1 - goal.mean());
  made.shrink = shrink(track, subject.lineage);
  made.share = subject.shown_share;
  made.cost_s = lab_.prices().engine_run_s;
  return made;
}

OpenQuestion Nights::open_question(const Test& test, Question question) const {
  OpenQuestion open;
  open.question = question;
  open.lineage = test.subject->lineage;
  open.predicted = test.subject->predicted;
  open.change_is_empty = true;  // every probe of this target covers every change
  open.candidate_is_warm = question != Question::builds;
  const Layer own = test.subject->lineage.layer;
  if (question == Question::own_metric) {
    open.key.metric = kMetrics[index_of(own)];
    if (test.own_rule) open.min_gain = test.own_rule->min_gain;
  }
  if (question == Question::carries_over) {
    open.key.metric = kMetrics[2];
    open.share[kMetrics[2]] = test.subject->shown_share;
  }
  return open;
}

PricedQuestion Nights::priced(const Test& test, Question question) const {
  const Choice choice =
      choose_experiment(open_question(test, question), manifest_, learned_, policy_, 1e9);
  PricedQuestion made;
  made.question = question;
  // What looks as if nothing could answer it is asked last, if all else speaks for it.
  const hypotheses::Alternative& best =
      choice.chosen ? *choice.chosen : choice.alternatives.front();
  made.cost_s = best.cost_s;
  made.p_refuting = p_refuting(learned_.track, test.subject->lineage, question).mean();
  return made;
}

Outcome Nights::decide(const Case& subject) {
  Test test;
  test.subject = &subject;
  test.own_rule = policy_.evidence;
  const bool at_engine = subject.lineage.layer == Layer::engine;
  if (settings_.shares && !at_engine) {
    test.own_rule = rule_for_share(policy_.evidence, subject.shown_share);
    if (!test.own_rule) return Outcome::rejected;
  }
  test.open = {Question::builds, Question::correct, Question::carries_over};
  if (!at_engine && settings_.cheapest_first) test.open.push_back(Question::own_metric);
  while (!test.open.empty()) {
    std::vector<PricedQuestion> prices;
    for (Question question : test.open) {
      // Without the precedence, correctness is a question like any other, and the last.
      if (question == Question::correct && !settings_.correct_first && test.open.size() > 1) {
        continue;
      }
      prices.push_back(priced(test, question));
    }
    std::vector<RankedQuestion> order = order_questions(prices);
    if (!settings_.question_order && order.front().allowed) {
      const auto allowed = std::count_if(order.begin(), order.end(),
                                         [](const RankedQuestion& each) { return each.allowed; });
      std::reverse(order.begin(), order.begin() + allowed);
    }
    const Question next = prices[order.front().index].question;
    test.open.erase(std::find(test.open.begin(), test.open.end(), next));
    const Verdict verdict = ask(test, next);
    if (settings_.learns) record_answer(learned_.track, subject.lineage, next, verdict);
    if (verdict == Verdict::inconclusive || verdict == Verdict::invalid) {
      return Outcome::inconclusive;
    }
    if (verdict != Verdict::supported) return Outcome::rejected;
  }
  return Outcome::accepted;
}

Verdict Nights::ask(Test& test, Question question) {
  const auto as_verdict = [](bool good) { return good ? Verdict::supported : Verdict::refuted; };
  const Case& subject = *test.subject;
  switch (question) {
    case Question::builds: {
      const double before_s = lab_.spent_s();
      const bool built = lab_.build(subject);
      if (settings_.learns && built) learned_.build_warm.add(lab_.spent_s() - before_s);
      return as_verdict(built);
    }
    case Question::correct:
      return as_verdict(lab_.check(subject));
    case Question::own_metric:
      return ask_own(test, BuildOf::first, 0);
    case Question::carries_over:
    case Question::guards:
      return ask_goal(test);
  }
  return Verdict::invalid;
}

// The noise of a layer on this campaign's machine: A/A pairs, the first time it matters.
double Nights::noise(const Case& subject, Layer layer) {
  const char* metric = kMetrics[index_of(layer)];
  const auto known = learned_.noise.find(metric);
  if (known != learned_.noise.end()) return known->second;
  std::vector<double> gains, guards;
  for (int i = 0; i < policy_.evidence.noise_pairs; ++i) {
    const PairOfRuns pair = lab_.pair_of_base(subject.campaign, layer);
    learn_run(layer);
    gains.push_back(std::log(pair.metric.base / pair.metric.candidate));
    if (layer == Layer::engine) guards.push_back(std::log(pair.guard.base / pair.guard.candidate));
  }
  if (layer == Layer::engine) learned_.noise["engine.guard"] = policies::noise_of(guards);
  return learned_.noise[metric] = policies::noise_of(gains);
}

void Nights::learn_run(Layer layer) {
  if (!settings_.learns) return;
  learned_.run[std::string(to_text(layer)) + ".bench"].add(lab_.prices().run_s(layer));
}

// As the daemon reckons it.
PriceOfGoingOn Nights::price(Layer layer) const {
  return {2 * lab_.prices().run_s(layer), expected_build_s(false, learned_)};
}

Verdict Nights::ask_own(const Test& test, BuildOf build, double level) {
  const Case& subject = *test.subject;
  const Layer layer = subject.lineage.layer;
  const double scale = settings_.noise_scale ? noise(subject, layer) : 0;
  const EvidenceRule& rule = *test.own_rule;
  std::vector<PairValues> pairs;
  for (int attempts = 1;; ++attempts) {
    pairs.push_back(lab_.pair(subject, layer, build).metric);
    const auto evidence = weigh(pairs, {}, kTime, rule.alpha, scale, rule.implausible_ratio);
    auto judgement = level > 0 ? judge_confirmation(evidence, level, rule, false, attempts)
                               : judge_gain(evidence, rule, false, attempts);
    if (!judgement && settings_.gives_up) {
      judgement = judge_hopeless(evidence, noise(subject, layer), rule, price(layer));
    }
    if (!judgement) continue;
    if (settings_.learns && judgement->verdict == Verdict::supported) {
      record_size(learned_.track, subject.lineage, subject.predicted, evidence.effect);
    }
    return judgement->verdict;
  }
}

Verdict Nights::ask_goal(const Test& test) {
  const Case& subject = *test.subject;
  // A winner needs the fresh build anyway, and it costs little more than a pair of engine runs: the
  // goal is measured on it at once, and once only.
  if (!settings_.confirms || !settings_.confirms_at_once) {
    const Verdict explored = measure_goal(subject, BuildOf::first, 0);
    if (explored != Verdict::supported || !settings_.confirms) return explored;
  }
  const double before_s = lab_.spent_s();
  lab_.build_fresh(subject);
  if (settings_.learns) learned_.build_cold.add(lab_.spent_s() - before_s);
  const double level = merge_level(settings_.fdr, ++confirmations_, confirmed_);
  const bool own_first = subject.lineage.layer != Layer::engine && settings_.cheapest_first;
  if (own_first) {
    const Verdict own = ask_own(test, BuildOf::fresh, level);
    if (own != Verdict::supported) return own;
  }
  const Verdict verdict = measure_goal(subject, BuildOf::fresh, own_first ? 0 : level);
  confirmed_ += verdict == Verdict::supported ? 1 : 0;
  return verdict;
}

// Goal and guard from the same runs, until both are settled or one refutes. A level above 0 is that
// of a confirmation.
Verdict Nights::measure_goal(const Case& subject, BuildOf build, double level) {
  const EvidenceRule& rule = policy_.evidence;
  const double known = noise(subject, Layer::engine);
  const double scale = settings_.noise_scale ? known : 0;
  const double guard_scale = settings_.noise_scale ? learned_.noise["engine.guard"] : 0;
  std::vector<PairValues> goals, guards;
  std::optional<Judgement> gain, kept;
  for (int attempts = 1; !gain || !kept; ++attempts) {
    const PairOfRuns pair = lab_.pair(subject, Layer::engine, build);
    goals.push_back(pair.metric);
    guards.push_back(pair.guard);
    if (!gain) {
      const auto evidence = weigh(goals, {}, kTime, rule.alpha, scale, rule.implausible_ratio);
      gain = level > 0 ? judge_confirmation(evidence, level, rule, false, attempts)
                       : judge_gain(evidence, rule, false, attempts);
      if (!gain && settings_.gives_up)
        gain = judge_hopeless(evidence, known, rule, price(Layer::engine));
    }
    if (!kept) {
      kept = judge_guard(weigh(guards, {}, kTime, 2 * settings_.guard_level, guard_scale, 0),
                         kGuardMargin, rule, false, attempts);
    }
    for (const auto& judgement : {gain, kept}) {
      if (judgement && judgement->verdict != Verdict::supported) return judgement->verdict;
    }
  }
  return Verdict::supported;
}

}  // namespace

Strategy nightshift(std::string name, const NightshiftSettings& settings) {
  return {std::move(name), "the default policy; 4 A/A pairs",
          [settings](const World& world, Lab& lab) {
            return Nights(world, lab, settings).decide_all();
          }};
}

}  // namespace policies::bench

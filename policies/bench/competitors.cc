#include "policies/bench/competitors.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "policies/bench/rank_tests.h"
#include "policies/robust.h"

namespace policies::bench {
namespace {

using hypotheses::Layer;

constexpr Layer kLayers[] = {Layer::kernel, Layer::component, Layer::engine};

// Runs of one stage as logs: oriented gains of the pairs, and each side's values.
struct Sample {
  std::vector<double> gains, guard_gains, base, candidate;

  void add(const PairOfRuns& pair) {
    base.push_back(std::log(pair.metric.base));
    candidate.push_back(std::log(pair.metric.candidate));
    gains.push_back(base.back() - candidate.back());
    if (pair.guard.base > 0) {
      guard_gains.push_back(std::log(pair.guard.base / pair.guard.candidate));
    }
  }
};

Sample measure(Lab& lab, const Case& subject, Layer layer, BuildOf build, int pairs) {
  Sample sample;
  for (int i = 0; i < pairs; ++i) sample.add(lab.pair(subject, layer, build));
  return sample;
}

bool keeps_guard(const Sample& sample) {
  return sample.guard_gains.empty() || median(sample.guard_gains) > -std::log1p(kGuardMargin);
}

double p_value(const Sample& sample, Test test) {
  if (test == Test::none) return 0;
  return test == Test::mann_whitney ? mann_whitney_p(sample.base, sample.candidate)
                                    : signed_rank_p(sample.gains);
}

bool passes(const Sample& sample, const Rung& rung, Test test) {
  return median(sample.gains) >= std::log1p(rung.gain) && keeps_guard(sample) &&
         (test == Test::none || p_value(sample, test) <= rung.alpha);
}

// What everybody does first.
bool builds_and_is_correct(Lab& lab, const Case& subject) {
  return lab.build(subject) && lab.check(subject);
}

Outcome as_outcome(bool accepted) { return accepted ? Outcome::accepted : Outcome::rejected; }

// Each case by itself, in the order given.
template <class Decide>
Strategy one_by_one(std::string name, std::string settings, Decide decide) {
  return {std::move(name), std::move(settings), [decide](const World& world, Lab& lab) {
            std::vector<Outcome> outcomes;
            for (const Case& subject : world.cases) {
              const bool sound = builds_and_is_correct(lab, subject);
              outcomes.push_back(sound ? decide(lab, subject) : Outcome::rejected);
            }
            return outcomes;
          }};
}

// Measures by `accepts` at the engine, on the builds that the setting asks for.
template <class Accepts>
Outcome at_engine(Lab& lab, const Case& subject, Fresh fresh, const Accepts& accepts) {
  if (fresh == Fresh::at_engine) lab.build_fresh(subject);
  const BuildOf first = fresh == Fresh::at_engine ? BuildOf::fresh : BuildOf::first;
  Outcome outcome = accepts(first);
  if (outcome == Outcome::accepted && fresh == Fresh::to_confirm) {
    lab.build_fresh(subject);
    outcome = accepts(BuildOf::fresh);
  }
  return outcome;
}

const char* text_of(Fresh fresh) {
  return fresh == Fresh::never       ? "first build"
         : fresh == Fresh::at_engine ? "fresh build at the engine"
                                     : "confirmed on a fresh build";
}

std::string text_of(const LadderSettings& settings) {
  std::string text;
  for (std::size_t i = 0; i < 3; ++i) {
    const Rung& rung = settings.rungs[i];
    if (rung.pairs == 0) continue;
    text +=
        fmt::format("{}: {} pairs, gain {:g}%", to_text(kLayers[i]), rung.pairs, 100 * rung.gain);
    if (settings.test != Test::none) text += fmt::format(", p {:g}", rung.alpha);
    text += "; ";
  }
  return text + text_of(settings.fresh);
}

enum class Compared { different, same };

// More attempts while the p-value lies between the thresholds.
Compared three_way(Lab& lab, const Case& subject, Layer layer, BuildOf build,
                   const PinpointSettings& settings, Sample& sample) {
  while (true) {
    for (int i = 0; i < settings.step; ++i) sample.add(lab.pair(subject, layer, build));
    const int attempts = static_cast<int>(sample.gains.size());
    const double p = mann_whitney_p(sample.base, sample.candidate);
    if (p <= settings.low) return Compared::different;
    if (p > same_above_p(settings.magnitude, attempts) || attempts >= settings.most) {
      return Compared::same;
    }
  }
}

Outcome decide_pinpoint(Lab& lab, const Case& subject, const PinpointSettings& settings) {
  for (Layer layer : {Layer::kernel, Layer::component}) {
    if (layer < subject.lineage.layer) continue;
    Sample sample;
    const Compared compared = three_way(lab, subject, layer, BuildOf::first, settings, sample);
    if (compared == Compared::same || median(sample.gains) <= 0) return Outcome::rejected;
  }
  return at_engine(lab, subject, settings.fresh, [&](BuildOf build) {
    Sample sample;
    const Compared compared = three_way(lab, subject, Layer::engine, build, settings, sample);
    return as_outcome(compared == Compared::different && keeps_guard(sample) &&
                      median(sample.gains) >= std::log1p(settings.gain));
  });
}

// Running means of finished trials, by step.
using Finished = std::map<int, std::vector<double>>;

Outcome decide_pruner(Lab& lab, const Case& subject, const PrunerSettings& settings, BuildOf build,
                      Finished& finished) {
  constexpr std::size_t kStartup = 5;  // Optuna's default
  Sample sample;
  std::vector<double> means;
  double sum = 0;
  for (int step = 1; step <= settings.most; ++step) {
    sample.add(lab.pair(subject, Layer::engine, build));
    sum += sample.gains.back();
    means.push_back(sum / step);
    const std::vector<double>& others = finished[step];
    if (step > settings.warmup && others.size() >= kStartup && means.back() < median(others)) {
      return Outcome::rejected;
    }
  }
  for (int step = 1; step <= settings.most; ++step) {
    finished[step].push_back(means[static_cast<std::size_t>(step) - 1]);
  }
  return as_outcome(means.back() >= std::log1p(settings.gain) && keeps_guard(sample));
}

Outcome decide_sequential(Lab& lab, const Case& subject, const EvidenceRule& rule, BuildOf build) {
  static const hypotheses::Metric kTime{"time", hypotheses::Better::lower, "s", false, {}};
  std::vector<PairValues> goal, guard;
  std::optional<Judgement> gain, kept;
  for (int attempts = 1; !gain || !kept; ++attempts) {
    const PairOfRuns pair = lab.pair(subject, Layer::engine, build);
    goal.push_back(pair.metric);
    guard.push_back(pair.guard);
    if (!gain) {
      gain = judge_gain(weigh(goal, {}, kTime, rule.alpha, 0, rule.implausible_ratio), rule, false,
                        attempts);
    }
    if (!kept) {
      kept = judge_guard(weigh(guard, {}, kTime, rule.alpha, 0, 0), kGuardMargin, rule, false,
                         attempts);
    }
    for (const auto& judgement : {gain, kept}) {
      if (!judgement || judgement->verdict == hypotheses::Verdict::supported) continue;
      return judgement->verdict == hypotheses::Verdict::inconclusive ? Outcome::inconclusive
                                                                     : Outcome::rejected;
    }
  }
  return Outcome::accepted;
}

}  // namespace

Strategy ladder(std::string name, const LadderSettings& settings) {
  return one_by_one(std::move(name), text_of(settings), [settings](Lab& lab, const Case& subject) {
    for (std::size_t i = 0; i < 2; ++i) {
      const Rung& rung = settings.rungs[i];
      if (rung.pairs == 0 || kLayers[i] < subject.lineage.layer) continue;
      const Sample sample = measure(lab, subject, kLayers[i], BuildOf::first, rung.pairs);
      if (!passes(sample, rung, settings.test)) return Outcome::rejected;
    }
    const Rung& last = settings.rungs[2];
    return at_engine(lab, subject, settings.fresh, [&](BuildOf build) {
      const Sample sample = measure(lab, subject, Layer::engine, build, last.pairs);
      return as_outcome(passes(sample, last, settings.test));
    });
  });
}

Strategy pinpoint(std::string name, const PinpointSettings& settings) {
  const std::string text = fmt::format(
      "magnitude {:g}, different below {:g}, {} to {} attempts, gain {:g}%; {}", settings.magnitude,
      settings.low, settings.step, settings.most, 100 * settings.gain, text_of(settings.fresh));
  return one_by_one(std::move(name), text, [settings](Lab& lab, const Case& subject) {
    return decide_pinpoint(lab, subject, settings);
  });
}

Strategy median_pruner(std::string name, const PrunerSettings& settings) {
  const std::string text =
      fmt::format("{} warm-up steps, {} pairs, gain {:g}%; {}", settings.warmup, settings.most,
                  100 * settings.gain, text_of(settings.fresh));
  return {std::move(name), text, [settings](const World& world, Lab& lab) {
            Finished finished;
            std::vector<Outcome> outcomes;
            for (const Case& subject : world.cases) {
              if (!builds_and_is_correct(lab, subject)) {
                outcomes.push_back(Outcome::rejected);
                continue;
              }
              outcomes.push_back(at_engine(lab, subject, settings.fresh, [&](BuildOf build) {
                return decide_pruner(lab, subject, settings, build, finished);
              }));
            }
            return outcomes;
          }};
}

Strategy sequential_engine(std::string name, const SequentialSettings& settings) {
  EvidenceRule rule;
  rule.alpha = settings.alpha;
  rule.max_pairs = settings.most;
  const std::string text = fmt::format("alpha {:g}, at most {} pairs; {}", settings.alpha,
                                       settings.most, text_of(settings.fresh));
  return one_by_one(std::move(name), text, [rule, settings](Lab& lab, const Case& subject) {
    return at_engine(lab, subject, settings.fresh,
                     [&](BuildOf build) { return decide_sequential(lab, subject, rule, build); });
  });
}

}  // namespace policies::bench

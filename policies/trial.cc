#include "policies/trial.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "policies/evidence.h"
#include "policies/symmetry.h"

namespace policies {
namespace {

using Judge = std::function<std::optional<Judgement>(const hypotheses::Evidence&, int attempts)>;

// Each pair's order is drawn by a coin of its own; the candidate's time is shortened by the effect.
PairValues next_pair(const Machine& machine, double effect, base::Rng& rng) {
  const TwoRuns runs = machine(rng);
  const bool base_first = rng.coin();
  const double base = base_first ? runs.first : runs.second;
  const double candidate = base_first ? runs.second : runs.first;
  return {base, candidate * std::exp(-effect)};
}

// Every answer of the judges but the one at the cap needs the interval to have passed one of two
// bounds, or a gain that is flagged. The bounds are watched by running e-values, which is cheap.
class Watch {
 public:
  Watch(const EvidenceRule& rule, double scale) : rule_(rule), bets_(bets_for(scale)) {}

  void above(double theta, double e) { above_.push_back({RunningE(theta, bets_), e}); }
  void below(double theta, double e) { below_.push_back({RunningE(-theta, bets_), e}); }

  // Adds one pair; false while no rule can hold.
  bool may_be_judged(double x, int attempts) {
    bool may = attempts >= rule_.max_pairs;
    may_be_flagged_ |= x > std::log(rule_.implausible_ratio);
    for (Bound& bound : above_) may |= bound.reached(x);
    for (Bound& bound : below_) may |= bound.reached(-x);
    return may || may_be_flagged_;
  }

 private:
  struct Bound {
    RunningE e;
    double threshold;
    bool reached(double x) {
      e.add(x);
      return e.value() >= kSlack * threshold;
    }
  };
  // For what rounding may differ between the running products and the logarithms of the evidence.
  static constexpr double kSlack = 0.99;

  const EvidenceRule& rule_;
  Bets bets_;
  std::vector<Bound> above_, below_;
  bool may_be_flagged_ = false;
};

// What judge_gain and judge_confirmation need: a lower bound above 0 (or the e-value of a level),
// or an upper bound below the minimum gain (which that of "no difference" is too).
Watch watch_gain(const EvidenceRule& rule, double scale, double level) {
  Watch watch(rule, scale);
  watch.above(0, level > 0 ? std::min(1 / level, 2 / rule.alpha) : 2 / rule.alpha);
  watch.below(std::log1p(std::max(rule.min_gain, rule.no_difference)), 2 / rule.alpha);
  return watch;
}

Trial until_judged(const Machine& machine, double effect, const EvidenceRule& rule, double scale,
                   base::Rng& rng, Watch watch, const Judge& judge) {
  static const hypotheses::MetricKey kKey{"time", {}};
  static const hypotheses::Metric kMetric{"time", hypotheses::Better::lower, "s", false, {}, {}};
  std::vector<PairValues> pairs;
  for (int attempts = 1;; ++attempts) {
    pairs.push_back(next_pair(machine, effect, rng));
    const auto x = oriented_log_ratio(pairs.back(), kMetric.better);
    if (!watch.may_be_judged(x.value_or(0), attempts)) continue;
    const auto evidence = weigh(pairs, kKey, kMetric, rule.alpha, scale, rule.implausible_ratio);
    if (const auto judgement = judge(evidence, attempts)) {
      return {judgement->verdict, evidence, evidence.pairs};
    }
  }
}

}  // namespace

double measure_noise(const Machine& machine, const EvidenceRule& rule, base::Rng& rng) {
  std::vector<double> log_ratios;
  for (int i = 0; i < rule.noise_pairs; ++i) {
    log_ratios.push_back(next_log_ratio(machine, 0, rng));
  }
  return noise_of(log_ratios);
}

Trial try_gain(const Machine& machine, double effect, const EvidenceRule& rule, double scale,
               base::Rng& rng) {
  return until_judged(machine, effect, rule, scale, rng, watch_gain(rule, scale, 0),
                      [&](const auto& evidence, int attempts) {
                        return judge_gain(evidence, rule, false, attempts);
                      });
}

Trial try_confirmation(const Machine& machine, double effect, const EvidenceRule& rule,
                       double scale, double level, base::Rng& rng) {
  return until_judged(machine, effect, rule, scale, rng, watch_gain(rule, scale, level),
                      [&](const auto& evidence, int attempts) {
                        return judge_confirmation(evidence, level, rule, false, attempts);
                      });
}

Trial try_guard(const Machine& machine, double effect, const EvidenceRule& rule, double scale,
                double margin, base::Rng& rng) {
  Watch watch(rule, scale);
  const double worst = worst_allowed(margin, hypotheses::Better::lower);
  watch.above(worst, 2 / rule.alpha);
  watch.below(worst, 2 / rule.alpha);
  return until_judged(machine, effect, rule, scale, rng, std::move(watch),
                      [&](const auto& evidence, int attempts) {
                        return judge_guard(evidence, margin, rule, false, attempts);
                      });
}

double next_log_ratio(const Machine& machine, double effect, base::Rng& rng) {
  return oriented_log_ratio(next_pair(machine, effect, rng), hypotheses::Better::lower).value_or(0);
}

int false_merges(const Machine& machine, int hypotheses, const EvidenceRule& rule, double fdr,
                 base::Rng& rng) {
  const double scale = measure_noise(machine, rule, rng);
  int confirmed = 0;
  for (int t = 1; t <= hypotheses; ++t) {
    const double level = merge_level(fdr, t, confirmed);  // fixed when the hypothesis is opened
    if (try_gain(machine, 0, rule, scale, rng).verdict != hypotheses::Verdict::supported) continue;
    const Trial confirmation = try_confirmation(machine, 0, rule, scale, level, rng);
    if (confirmation.verdict == hypotheses::Verdict::supported) ++confirmed;
  }
  return confirmed;
}

}  // namespace policies

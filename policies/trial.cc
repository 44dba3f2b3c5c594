#include "policies/trial.h"

#include <cmath>
#include <vector>

#include "policies/evidence.h"

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

Trial until_judged(const Machine& machine, double effect, const EvidenceRule& rule, double scale,
                   base::Rng& rng, const Judge& judge) {
  static const hypotheses::MetricKey kKey{"time", {}};
  static const hypotheses::Metric kMetric{"time", hypotheses::Better::lower, "s", false, {}};
  std::vector<PairValues> pairs;
  for (int attempts = 1;; ++attempts) {
    pairs.push_back(next_pair(machine, effect, rng));
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
    if (const auto x = oriented_log_ratio(next_pair(machine, 0, rng), hypotheses::Better::lower)) {
      log_ratios.push_back(*x);
    }
  }
  return noise_of(log_ratios);
}

Trial try_gain(const Machine& machine, double effect, const EvidenceRule& rule, double scale,
               base::Rng& rng) {
  return until_judged(machine, effect, rule, scale, rng, [&](const auto& evidence, int attempts) {
    return judge_gain(evidence, rule, false, attempts);
  });
}

Trial try_confirmation(const Machine& machine, double effect, const EvidenceRule& rule,
                       double scale, double level, base::Rng& rng) {
  return until_judged(machine, effect, rule, scale, rng, [&](const auto& evidence, int attempts) {
    return judge_confirmation(evidence, level, rule, false, attempts);
  });
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

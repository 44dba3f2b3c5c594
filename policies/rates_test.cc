// Error rates and power of the whole loop on synthetic noise; recorded noise is aa_rates.cc's.
#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "policies/choice.h"
#include "policies/evidence.h"
#include "policies/noise_models.h"
#include "policies/pairs.h"
#include "policies/robust.h"
#include "policies/trial.h"

namespace policies {
namespace {

using hypotheses::Verdict;

constexpr std::uint64_t kRatesSeed = 20261201;
constexpr double kNoise = 0.03;  // s.d. of a paired log-ratio

int count_supported(const Machine& machine, int trials, base::Rng& rng) {
  const EvidenceRule rule;
  int supported = 0;
  for (int i = 0; i < trials; ++i) {
    const double scale = measure_noise(machine, rule, rng);
    if (try_gain(machine, 0, rule, scale, rng).verdict == Verdict::supported) ++supported;
  }
  return supported;
}

// Of the pairs that a trial needs, the median.
double median_pairs(const Machine& machine, double effect, const EvidenceRule& rule, int trials,
                    base::Rng& rng) {
  std::vector<double> pairs;
  for (int i = 0; i < trials; ++i) {
    pairs.push_back(try_gain(machine, effect, rule, measure_noise(machine, rule, rng), rng).pairs);
  }
  return median(pairs);
}

TEST_CASE("nothing that changes nothing is supported more often than alpha / 2") {
  std::cout << "seed " << kRatesSeed << "\n";
  base::Rng rng(kRatesSeed);
  constexpr int kTrials = 1000;
  // "Faster" is one side of the interval: 2.5%, and three Monte-Carlo errors.
  const double most = kTrials * 0.025 + 3 * std::sqrt(kTrials * 0.025 * 0.975);
  CHECK(count_supported(independent_noise(draw_normal, kNoise), kTrials, rng) <= most);
  CHECK(count_supported(independent_noise(draw_student2, kNoise), kTrials, rng) <= most);
  CHECK(count_supported(drifting_noise(kNoise, 0.02), kTrials, rng) <= most);
}

TEST_CASE("without the coin a warm second run would be a discovery") {
  base::Rng rng(kRatesSeed);
  const EvidenceRule rule;
  const Machine machine = drifting_noise(0.004, 0.02);
  int supported = 0;
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<PairValues> pairs;
    for (int i = 0; i < 20; ++i) {
      const TwoRuns runs = machine(rng);
      pairs.push_back({runs.first, runs.second});  // the candidate always second
    }
    const auto evidence = weigh(pairs, {}, {}, rule.alpha, 0.005, rule.implausible_ratio);
    if (evidence.low > 0) ++supported;
  }
  CHECK(supported > 15);
  CHECK(count_supported(machine, 200, rng) <= 15);
}

TEST_CASE("the interval holds the truth at every look, in 95% of all trials") {
  std::cout << "seed " << kRatesSeed << "\n";
  base::Rng rng(kRatesSeed);
  constexpr int kTrials = 300;
  constexpr double kEffect = 0.1;
  for (auto draw : {draw_normal, draw_student2}) {
    const Machine machine = independent_noise(draw, kNoise);
    int missed = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const double scale = measure_noise(machine, {}, rng);
      std::vector<PairValues> pairs;
      bool held = true;
      for (int i = 0; i < 30; ++i) {
        const TwoRuns runs = machine(rng);
        pairs.push_back({runs.first, runs.second * std::exp(-kEffect)});
        const auto evidence = weigh(pairs, {}, {}, 0.05, scale, 10);
        held = held && evidence.low <= kEffect && kEffect <= evidence.high;
      }
      if (!held) ++missed;
    }
    CHECK(missed <= kTrials * 0.05 + 3 * std::sqrt(kTrials * 0.05 * 0.95));
  }
}

TEST_CASE("as few pairs as the t-type reference") {
  std::cout << "seed " << kRatesSeed << "\n";
  base::Rng rng(kRatesSeed);
  EvidenceRule rule;
  rule.max_pairs = 200;
  rule.min_gain = 0.001;
  rule.no_difference = 0.001;
  const Machine machine = independent_noise(draw_normal, kNoise);
  CHECK(median_pairs(machine, 3 * kNoise, rule, 300, rng) <= 7);
  CHECK(median_pairs(machine, 2 * kNoise, rule, 300, rng) <= 8);
  CHECK(median_pairs(machine, 1 * kNoise, rule, 300, rng) <= 13);
  CHECK(median_pairs(machine, 0.5 * kNoise, rule, 200, rng) <= 45);
}

TEST_CASE("a real gain is found, a real loss is refuted") {
  std::cout << "seed " << kRatesSeed << "\n";
  base::Rng rng(kRatesSeed);
  const EvidenceRule rule;
  const Machine machine = independent_noise(draw_normal, kNoise);
  int found = 0, refuted = 0;
  for (int i = 0; i < 200; ++i) {
    const double scale = measure_noise(machine, rule, rng);
    if (try_gain(machine, 0.06, rule, scale, rng).verdict == Verdict::supported) ++found;
    if (try_gain(machine, -0.06, rule, scale, rng).verdict == Verdict::refuted) ++refuted;
  }
  CHECK(found >= 196);
  CHECK(refuted >= 196);
}

TEST_CASE("expected pairs agree with simulation within a factor of 1.5") {
  std::cout << "seed " << kRatesSeed << "\n";
  base::Rng rng(kRatesSeed);
  EvidenceRule rule;
  rule.max_pairs = 400;
  const auto agrees = [](double expected, double simulated) {
    INFO(expected << " expected, " << simulated << " simulated");
    CHECK(expected <= 1.5 * simulated);
    CHECK(simulated <= 1.5 * expected);
  };
  rule.min_gain = rule.no_difference = 0.001;
  for (double in_noise : {3.0, 2.0, 1.0, 0.7, 0.5}) {
    const double effect = in_noise * kNoise;
    agrees(expected_pairs(effect, kNoise, 1, rule, 0),
           median_pairs(independent_noise(draw_normal, kNoise), effect, rule, 150, rng));
  }
  for (double noise : {0.01, 0.02}) {  // no effect: surely below the minimum gain
    rule = EvidenceRule();
    rule.max_pairs = 400;
    agrees(expected_pairs(0.5, noise, 0, rule, 0),
           median_pairs(independent_noise(draw_normal, noise), 0, rule, 150, rng));
  }
}

TEST_CASE("expected pairs of an exact counter, of a hopeless effect and of a mixture") {
  const EvidenceRule rule;
  CHECK(expected_pairs(0.5, 0, 0.5, rule, 0) == 1);
  CHECK(expected_pairs(0, 0.05, 1, rule, 0) == rule.max_pairs);
  const double real = expected_pairs(0.3, 0.05, 1, rule, 0);
  const double not_real = expected_pairs(0.3, 0.05, 0, rule, 0);
  CHECK(not_real <= rule.max_pairs);
  CHECK(expected_pairs(0.3, 0.05, 0.5, rule, 0) == Approx((real + not_real) / 2));
  CHECK(expected_pairs(0.05, 0.03, 1, rule, 0.001) > expected_pairs(0.05, 0.03, 1, rule, 0.05));
}

TEST_CASE("a share dilutes an effect as Amdahl says") {
  CHECK(diluted(std::log(0.5), 1) == std::log(0.5));
  CHECK(diluted(std::log(0.5), 0) == 0);
  CHECK(diluted(std::log(0.5), 0.5) == Approx(std::log(0.75)));
  CHECK(diluted(std::log(2.0), 0.04) == Approx(std::log(1.04)));
}

}  // namespace
}  // namespace policies

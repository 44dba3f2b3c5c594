#include "policies/hopeless.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "policies/noise_models.h"

namespace policies {
namespace {

using hypotheses::Evidence;
using hypotheses::Verdict;

Evidence seen(double effect, int pairs) {
  Evidence evidence;
  evidence.effect = effect;
  evidence.pairs = pairs;
  evidence.noise = 0.02;
  evidence.unit = "s";
  return evidence;
}

constexpr PriceOfGoingOn kDear{120, 25};

TEST_CASE("giving up: the rule in prose, row by row") {
  struct Row {
    const char* rule;
    double effect;
    int pairs;
    double noise;
    std::optional<Verdict> verdict;
  };
  const EvidenceRule rule;  // minimum gain 2%, at most 40 pairs
  const Row rows[] = {
      {"one pair is never enough", -0.5, 1, 0.02, {}},
      {"unknown noise is no ground", -0.5, 9, 0, {}},
      {"clearly slower, two pairs", -0.04, 2, 0.02, Verdict::refuted},
      {"no gain, two pairs of this noise leave hope", 0, 2, 0.02, {}},
      {"no gain, three pairs do not", 0, 3, 0.02, Verdict::refuted},
      {"a gain above the minimum goes on", 0.05, 3, 0.02, {}},
      {"late and on the edge: more pairs would not settle it", 0.0195, 12, 0.02,
       Verdict::inconclusive},
      {"early and on the edge goes on", 0.0195, 8, 0.02, {}},
      {"late but off the edge goes on", 0.03, 12, 0.02, {}},
  };
  for (const Row& row : rows) {
    INFO(row.rule);
    const auto judgement = judge_hopeless(seen(row.effect, row.pairs), row.noise, rule, kDear);
    CHECK(judgement.has_value() == row.verdict.has_value());
    if (judgement && row.verdict) CHECK(judgement->verdict == *row.verdict);
  }
  CHECK(judge_hopeless(seen(0, 3), 0.02, rule, kDear)->reason.find("gain +2% needed") !=
        std::string::npos);
  EvidenceRule never = rule;
  never.give_up = 0;
  CHECK_FALSE(judge_hopeless(seen(0, 3), 0.02, never, kDear));
}

TEST_CASE("giving up: what costs less than is ample is finished") {
  const EvidenceRule rule;
  // Telling no gain from 2% at 2% noise takes more than the six pairs that are the least.
  CHECK(judge_hopeless(seen(0, 3), 0.02, rule, {1, 0}));
  CHECK_FALSE(judge_hopeless(seen(0, 3), 0.02, rule, {1, 40}));
  CHECK(judge_hopeless(seen(0, 3), 0.02, rule, {10, 40}));
  // Far below, six pairs are enough: three are left.
  CHECK_FALSE(judge_hopeless(seen(-0.5, 3), 0.02, rule, {10, 31}));
  CHECK(judge_hopeless(seen(-0.5, 3), 0.02, rule, {10, 29}));
}

TEST_CASE("a gain of twice the minimum is rarely given up, none is given up within a few pairs") {
  constexpr std::uint64_t kSeed = 20261201;
  std::cout << "seed " << kSeed << "\n";
  base::Rng rng(kSeed);
  const EvidenceRule rule;
  constexpr double kNoise = 0.02;
  constexpr int kTrials = 400;
  const auto given_up = [&](double effect, int most) {
    int count = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      double sum = 0;
      for (int n = 1; n <= most; ++n) {
        sum += effect + kNoise * draw_normal(rng);
        if (judge_hopeless(seen(sum / n, n), kNoise, rule, kDear)) {
          ++count;
          break;
        }
      }
    }
    return count / static_cast<double>(kTrials);
  };
  CHECK(given_up(std::log1p(2 * rule.min_gain), 9) < 0.05);
  CHECK(given_up(0, 9) > 0.9);
}

}  // namespace
}  // namespace policies

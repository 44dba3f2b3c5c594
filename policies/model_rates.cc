#include "policies/model_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "policies/evidence.h"
#include "policies/noise_models.h"

namespace policies {
namespace {

constexpr double kNoise = 0.03;
constexpr int kMostPairs = 300;  // then it is given up

struct Shape {
  const char* name;
  Draw draw;
};
constexpr Shape kShapes[] = {{"normal", draw_normal},
                             {"one run in 20 is 20 times as wide", draw_outliers},
                             {"Student's t, 2 degrees of freedom", draw_student2}};

// Pairs until the interval satisfies `settled`, the scale being measured first, as a night does.
template <class Settled>
int pairs_until(const Machine& machine, double effect, base::Rng& rng, const Settled& settled) {
  const double scale = measure_noise(machine, EvidenceRule(), rng);
  std::vector<PairValues> pairs;
  while (static_cast<int>(pairs.size()) < kMostPairs) {
    const TwoRuns runs = machine(rng);
    pairs.push_back({runs.first, runs.second * std::exp(-effect)});
    if (settled(weigh(pairs, {}, {}, 0.05, scale, 10))) break;
  }
  return static_cast<int>(pairs.size());
}

template <class Settled>
std::string cell(const Machine& machine, double effect, int trials, base::Rng& rng,
                 const Settled& settled) {
  std::vector<int> pairs;
  for (int i = 0; i < trials; ++i) pairs.push_back(pairs_until(machine, effect, rng, settled));
  std::sort(pairs.begin(), pairs.end());
  const auto shown = [](int n) {
    return n < kMostPairs ? fmt::format("{}", n) : fmt::format("over {}", kMostPairs - 1);
  };
  return shown(pairs[pairs.size() / 2]) + ", " + shown(pairs[pairs.size() * 9 / 10]);
}

}  // namespace

void print_model_rates(int trials, base::Rng rng) {
  fmt::print(
      "Pairs (median, p90) until the 95% interval is above 0, for a true effect in units of the "
      "noise "
      "s; until it is inside +-, for no effect; {} trials each:\n\n"
      "| noise | 3s | 2s | 1s | 0.5s | none, inside +-1s | none, inside +-0.5s |\n"
      "|---|---|---|---|---|---|---|\n",
      trials);
  for (const Shape& shape : kShapes) {
    const Machine machine = independent_noise(shape.draw, kNoise);
    fmt::print("| {}", shape.name);
    for (double effect : {3.0, 2.0, 1.0, 0.5}) {
      fmt::print(" | {}", cell(machine, effect * kNoise, trials, rng,
                               [](const auto& evidence) { return evidence.low > 0; }));
    }
    for (double band : {1.0, 0.5}) {
      fmt::print(" | {}", cell(machine, 0, trials, rng, [&](const auto& evidence) {
                   return evidence.low > -band * kNoise && evidence.high < band * kNoise;
                 }));
    }
    fmt::print(" |\n");
    std::fflush(stdout);
  }
}

}  // namespace policies

// Change points: false alarms and finds. And what a judgement costs.
#include <fmt/format.h>

#include <cmath>

#include "base/clock.h"
#include "policies/change_points.h"
#include "policies/evidence.h"
#include "policies/noise_models.h"
#include "policies/rate_tables.h"
#include "policies/symmetry.h"

namespace policies {
namespace {

constexpr double kNight = 0.01;  // scale of a night's median

// The logarithms of nights without a change.
using Nights = std::vector<double> (*)(std::size_t n, base::Rng& rng);

template <Draw kDraw>
std::vector<double> independent_nights(std::size_t n, base::Rng& rng) {
  std::vector<double> x(n);
  for (double& value : x) value = kNight * kDraw(rng);
  return x;
}

template <int kPercent>
std::vector<double> remembering_nights(std::size_t n, base::Rng& rng) {
  constexpr double kCorrelation = kPercent / 100.0;
  std::vector<double> x(n);
  double level = draw_normal(rng);
  for (double& value : x) {
    level = kCorrelation * level + std::sqrt(1 - kCorrelation * kCorrelation) * draw_normal(rng);
    value = kNight * level;
  }
  return x;
}

struct Shape {
  const char* name;
  Nights nights;
};
constexpr Shape kShapes[] = {
    {"normal", independent_nights<draw_normal>},
    {"outliers: 1 night in 20 is 20 times as wide", independent_nights<draw_outliers>},
    {"Student's t, 2 degrees of freedom", independent_nights<draw_student2>},
    {"AR(1), correlation 0.3", remembering_nights<30>},
    {"AR(1), correlation 0.6", remembering_nights<60>},
};

std::vector<NightValue> series_of(const std::vector<double>& logs) {
  std::vector<NightValue> series;
  for (double x : logs) series.push_back({std::exp(x), 0});
  return series;
}

ChangePointRule rule_with(base::Rng& rng) {
  ChangePointRule rule;
  rule.least_shift = 0;
  rule.seed = rng.next();
  return rule;
}

int false_alarms(const Shape& shape, std::size_t n, int trials, base::Rng& rng) {
  int alarms = 0;
  for (int i = 0; i < trials; ++i) {
    alarms += change_points(series_of(shape.nights(n, rng)), rule_with(rng)).empty() ? 0 : 1;
  }
  return alarms;
}

// A step of `size` scales before the last `after` of n nights: found within two nights of its own.
double found_share(const Shape& shape, std::size_t n, std::size_t after, double size, int trials,
                   base::Rng& rng) {
  int found = 0;
  for (int i = 0; i < trials; ++i) {
    std::vector<double> x = shape.nights(n, rng);
    for (std::size_t k = n - after; k < n; ++k) x[k] += size * kNight;
    for (const ChangePoint& change : change_points(series_of(x), rule_with(rng))) {
      const auto off = static_cast<long>(change.index) - static_cast<long>(n - after);
      if (std::abs(off) > 2) continue;
      ++found;
      break;
    }
  }
  return found / static_cast<double>(trials);
}

// Nanoseconds of one call, the least of five rounds.
template <class Call>
double cost_ns(int calls, const Call& call) {
  const base::SystemClock clock;
  double least = 1e300;
  for (int round = 0; round < 5; ++round) {
    const double begin = clock.monotonic_s();
    for (int i = 0; i < calls; ++i) call();
    least = std::min(least, (clock.monotonic_s() - begin) / calls);
  }
  return 1e9 * least;
}

}  // namespace

Table change_point_table(const RateOptions& options) {
  constexpr std::size_t kLong = 90;
  const int trials = std::max(1, options.power_trials / 4);
  Table table;
  table.text = fmt::format(
      "Change points at a level of 1%, {} series each. False alarms in series without a change "
      "(upper 95% bound), and how often a step, in units of a night's scale s, before the last 45 "
      "or the last 5 of {} nights is found within two nights of its place.\n\n"
      "| nights | false alarms: 30 nights | 90 | 365 | 2s, last 45 | 3s, last 45 | 2s, last 5 | "
      "4s, "
      "last 5 |\n|---|---|---|---|---|---|---|---|\n",
      trials, kLong);
  for (const Shape& shape : kShapes) {
    base::Rng rng = stream(options, "change points", shape.name);
    table.text += fmt::format("| {}", shape.name);
    for (std::size_t n : {30, 90, 365}) {
      const int fewer = n > 300 ? std::max(1, trials / 4) : trials;
      table.text += " | " + rate_text(false_alarms(shape, n, fewer, rng), fewer);
    }
    for (const auto& [after, size] : {std::pair{45, 2.0}, {45, 3.0}, {5, 2.0}, {5, 4.0}}) {
      table.text += fmt::format(
          " | {:.0f}%",
          100 * found_share(shape, kLong, static_cast<std::size_t>(after), size, trials / 4, rng));
    }
    table.text += " |\n";
  }
  return table;
}

std::string timing_table() {
  std::string text =
      "| pairs | weigh and judge | the same, pair by pair (RunningE, both bounds) "
      "|\n|---|---|---|\n";
  base::Rng rng(1);
  const Machine machine = independent_noise(draw_normal, 0.03);
  std::vector<PairValues> pairs;
  for (int n : {6, 40, 400}) {
    while (static_cast<int>(pairs.size()) < n) {
      const TwoRuns runs = machine(rng);
      pairs.push_back({runs.first, runs.second});
    }
    volatile double sink = 0;
    const double whole = cost_ns(n > 100 ? 50 : 500, [&] {
      const auto evidence = weigh(pairs, {}, {}, 0.05, 0.03, 10);
      sink = evidence.low + (judge_gain(evidence, {}, false, n) ? 1 : 0);
    });
    RunningE above(0, bets_for(0.03)), below(0, bets_for(0.03));
    const double step = cost_ns(1000, [&] {
      above.add(0.001);
      below.add(-0.001);
      sink = above.value() + below.value();
    });
    text += fmt::format("| {} | {:.0f} us | {:.2f} us |\n", n, whole / 1e3, step / 1e3);
  }
  return text;
}

}  // namespace policies

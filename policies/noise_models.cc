#include "policies/noise_models.h"

#include <cmath>
#include <memory>
#include <numbers>

namespace policies {

// Box and Muller 1958.
double draw_normal(base::Rng& rng) {
  const double radius = std::sqrt(-2 * std::log(1 - rng.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng.uniform());
}

double draw_student2(base::Rng& rng) {
  const double a = draw_normal(rng), b = draw_normal(rng);
  return draw_normal(rng) / std::sqrt((a * a + b * b) / 2);
}

double draw_outliers(base::Rng& rng) {
  const double width = rng.uniform() < 0.05 ? 20 : 1;
  return width * draw_normal(rng);
}

Machine independent_noise(Draw draw, double noise) {
  const double of_run = noise / std::numbers::sqrt2;
  return [=](base::Rng& rng) {
    TwoRuns runs;
    runs.first = std::exp(of_run * draw(rng));
    runs.second = std::exp(of_run * draw(rng));
    return runs;
  };
}

Machine drifting_noise(double noise, double second_gain) {
  auto level = std::make_shared<double>(0);
  return [=](base::Rng& rng) {
    const auto run = [&] {
      *level += noise / 2 * draw_normal(rng);
      return std::exp(*level + noise / std::numbers::sqrt2 * draw_normal(rng));
    };
    TwoRuns runs;
    runs.first = run();
    runs.second = run() * std::exp(-second_gain);
    return runs;
  };
}

Machine autocorrelated_noise(double noise, double correlation) {
  auto level = std::make_shared<double>(0);
  const double fresh = std::sqrt(1 - correlation * correlation);
  return [=](base::Rng& rng) {
    const auto run = [&] {
      *level = correlation * *level + fresh * draw_normal(rng);
      return std::exp(noise / std::numbers::sqrt2 * *level);
    };
    TwoRuns runs;
    runs.first = run();
    runs.second = run();
    return runs;
  };
}

Machine switching_noise(double noise) {
  auto busy = std::make_shared<bool>(false);
  return [=](base::Rng& rng) {
    constexpr double kSwitch = 0.05, kSlower = 1.3, kNoisier = 3;
    const auto run = [&] {
      if (rng.uniform() < kSwitch) *busy = !*busy;
      const double width = noise / std::numbers::sqrt2 * (*busy ? kNoisier : 1);
      return (*busy ? kSlower : 1) * std::exp(width * draw_normal(rng));
    };
    TwoRuns runs;
    runs.first = run();
    runs.second = run();
    return runs;
  };
}

}  // namespace policies

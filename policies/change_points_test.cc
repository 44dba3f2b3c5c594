#include "policies/change_points.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>
#include <limits>

#include "policies/noise_models.h"

namespace policies {
namespace {

constexpr std::uint64_t kSeed = 20261201;

// n nights around 100 with relative noise `s`, times exp(shape(i)).
template <class Shape>
std::vector<NightValue> nights(std::size_t n, double s, base::Rng& rng, const Shape& shape) {
  std::vector<NightValue> series;
  for (std::size_t i = 0; i < n; ++i) {
    series.push_back({100 * std::exp(shape(i) + s * draw_normal(rng)), s});
  }
  return series;
}

double flat(std::size_t) { return 0; }

TEST_CASE(
    "change points: nothing in nothing, in few nights, in constants and in a series of gaps") {
  CHECK(change_points({}, {}).empty());
  for (std::size_t n = 1; n <= 5; ++n) {
    std::vector<NightValue> series(n, {100, 0});
    series.back().value = 200;
    CHECK(change_points(series, {}).empty());
  }
  CHECK(change_points(std::vector<NightValue>(50, {100, 0}), {}).empty());
  CHECK(change_points(std::vector<NightValue>(50, {std::nan(""), 0}), {}).empty());
  CHECK(change_points(std::vector<NightValue>(50, {-1, 0}), {}).empty());
}

TEST_CASE("change points: a step is found at its night, with its size") {
  base::Rng rng(kSeed);
  for (std::size_t at : {10u, 40u, 70u}) {
    for (double size : {0.05, -0.08}) {
      INFO(at << " " << size);
      const auto found = change_points(
          nights(80, 0.01, rng, [&](std::size_t i) { return i < at ? 0 : size; }), {});
      REQUIRE(found.size() == 1);
      CHECK(std::abs(static_cast<long>(found[0].index) - static_cast<long>(at)) <= 1);
      CHECK(found[0].shift == Approx(size).margin(0.012));
      CHECK(found[0].confidence >= 0.99);
      CHECK_FALSE(found[0].is_drift);
    }
  }
}

TEST_CASE("change points: a step between constants is exact, whatever the gaps") {
  std::vector<NightValue> series(30, {100, 0});
  for (std::size_t i = 12; i < 30; ++i) series[i].value = 90;
  series[5].value = series[20].value = std::numeric_limits<double>::infinity();
  series[6].value = 0;
  const auto found = change_points(series, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].index == 12);
  CHECK(found[0].shift == Approx(std::log(0.9)));
}

TEST_CASE("change points: up and down again are two") {
  base::Rng rng(kSeed);
  const auto found = change_points(
      nights(90, 0.01, rng, [](std::size_t i) { return i >= 30 && i < 60 ? 0.06 : 0; }), {});
  REQUIRE(found.size() == 2);
  CHECK(found[0].shift > 0.04);
  CHECK(found[1].shift < -0.04);
}

TEST_CASE("change points: outliers are none") {
  base::Rng rng(kSeed);
  auto series = nights(60, 0.01, rng, flat);
  for (std::size_t i : {7u, 8u, 30u, 59u}) series[i].value *= 3;
  CHECK(change_points(series, {}).empty());
}

TEST_CASE("change points: a slope is one drift, not a staircase") {
  base::Rng rng(kSeed);
  const auto found = change_points(
      nights(100, 0.01, rng, [](std::size_t i) { return 0.002 * static_cast<double>(i); }), {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].is_drift);
  CHECK(found[0].index == 0);
  CHECK(found[0].shift == Approx(0.2).margin(0.02));
}

TEST_CASE("change points: a shift below the least one, or below the nights' noise, is no mark") {
  std::vector<NightValue> series(40, {100, 0});
  for (std::size_t i = 20; i < 40; ++i) series[i].value = 100.5;
  CHECK(change_points(series, {}).empty());
  ChangePointRule fine;
  fine.least_shift = 0.001;
  CHECK(change_points(series, fine).size() == 1);
  for (NightValue& night : series) night.noise = 0.05;
  CHECK(change_points(series, fine).empty());
}

TEST_CASE("change points: the same series gives the same answer") {
  base::Rng rng(kSeed);
  const auto series = nights(60, 0.01, rng, [](std::size_t i) { return i < 30 ? 0 : 0.02; });
  const auto a = change_points(series, {}), b = change_points(series, {});
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i].confidence == b[i].confidence);
}

TEST_CASE(
    "change points: false alarms stay near the level, also where nights resemble each other") {
  std::cout << "seed " << kSeed << "\n";
  base::Rng rng(kSeed);
  ChangePointRule rule;
  rule.least_shift = 0;
  constexpr int kSeries = 300;
  for (double correlation : {0.0, 0.5}) {
    int alarms = 0;
    for (int i = 0; i < kSeries; ++i) {
      double level = 0;
      auto series = nights(60, 0, rng, [&](std::size_t) {
        level = correlation * level + std::sqrt(1 - correlation * correlation) * draw_normal(rng);
        return 0.01 * level;
      });
      rule.seed = rng.next();
      alarms += change_points(series, rule).empty() ? 0 : 1;
    }
    INFO("correlation " << correlation);
    CHECK(alarms <= kSeries * (correlation == 0 ? 0.03 : 0.06));
  }
}

}  // namespace
}  // namespace policies

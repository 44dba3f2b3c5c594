#include "policies/evidence.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "policies/symmetry.h"

namespace policies {
namespace {

using hypotheses::Better;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const hypotheses::MetricKey kKey{"kda.time", {{"batch", "1"}}};

hypotheses::Metric timed(bool exact = false) {
  return {"kda.time", Better::lower, "ns", exact, {}, {}};
}

// Pairs whose oriented log-ratios are `x`, on a base of 100 ns.
std::vector<PairValues> pairs_of(const std::vector<double>& x) {
  std::vector<PairValues> pairs;
  for (double value : x) pairs.push_back({100, 100 * std::exp(-value)});
  return pairs;
}

hypotheses::Evidence weighed(const std::vector<double>& x, double scale = 0.02) {
  return weigh(pairs_of(x), kKey, timed(), 0.05, scale, 10);
}

TEST_CASE("an oriented log-ratio is positive when the candidate is better") {
  CHECK(*oriented_log_ratio({200, 100}, Better::lower) == Approx(std::log(2.0)));
  CHECK(*oriented_log_ratio({200, 100}, Better::higher) == Approx(-std::log(2.0)));
  CHECK(*oriented_log_ratio({100, 100}, Better::lower) == 0);
  CHECK(*oriented_log_ratio({0, 0}, Better::lower) == 0);
}

TEST_CASE("values without a log-ratio give none") {
  for (const PairValues pair : {PairValues{0, 1},
                                {1, 0},
                                {-1, 1},
                                {1, -1},
                                {-1, -1},
                                {kNan, 1},
                                {1, kNan},
                                {kInfinity, 1},
                                {1, kInfinity},
                                {0, kNan}}) {
    INFO(pair.base << " " << pair.candidate);
    CHECK_FALSE(oriented_log_ratio(pair, Better::lower));
  }
}

TEST_CASE("the largest and smallest doubles have a finite log-ratio") {
  CHECK(std::isfinite(*oriented_log_ratio({1e308, 5e-324}, Better::lower)));
}

TEST_CASE("no pairs, no evidence") {
  const auto evidence = weighed({});
  CHECK(evidence.pairs == 0);
  CHECK(evidence.effect == 0);
  CHECK(evidence.low == -kUnbounded);
  CHECK(evidence.high == kUnbounded);
  CHECK(evidence.e_better == Approx(1));
  CHECK(evidence.e_worse == Approx(1));
  CHECK(evidence.flag.empty());
}

TEST_CASE("fewer than six pairs never bound the interval at 5%") {
  for (std::size_t n = 1; n <= 5; ++n) {
    const auto evidence = weighed(std::vector<double>(n, 0.5));
    CHECK(evidence.low == -kUnbounded);
    CHECK(evidence.high == kUnbounded);
    CHECK(evidence.e_better < 40);
    CHECK(evidence.effect == Approx(0.5));
  }
  const auto six = weighed(std::vector<double>(6, 0.5));
  CHECK(six.low > 0);
  CHECK(six.e_better > 40);
}

TEST_CASE("better and worse mirror each other") {
  const std::vector<double> x = {0.03, 0.05, -0.01, 0.02, 0.04, 0.06, 0.01, 0.05};
  std::vector<double> mirrored;
  for (double value : x) mirrored.push_back(-value);
  const auto a = weighed(x);
  const auto b = weighed(mirrored);
  CHECK(a.e_better == Approx(b.e_worse));
  CHECK(a.effect == Approx(-b.effect));
  CHECK(a.low == Approx(-b.high).margin(2e-7));
  CHECK(a.high == Approx(-b.low).margin(2e-7));
}

TEST_CASE("the e-value against no better reaches 2 / alpha exactly where the interval leaves 0") {
  std::vector<double> x;
  for (int i = 0; i < 40; ++i) {
    x.push_back(0.012 + 0.02 * std::sin(i * 2.4));
    const auto evidence = weighed(x);
    INFO(i);
    CHECK((evidence.low > 1e-6) == (evidence.e_better > 40 * (1 + 1e-3)));
  }
}

TEST_CASE("the interval is a confidence set: its ends are just rejected, its middle is not") {
  const std::vector<double> x = {0.03, 0.05, -0.01, 0.02, 0.04, 0.06, 0.01, 0.05, 0.02, 0.03};
  const Bets bets = bets_for(0.02);
  const Interval interval = confidence_interval(x, 0.05, bets, kUnbounded);
  CHECK(log_e_above(x, interval.low, bets) >= std::log(40.0));
  CHECK(log_e_above(x, interval.low + 1e-6, bets) < std::log(40.0));
  CHECK(log_e_above(x, (interval.low + interval.high) / 2, bets) < std::log(40.0));
}

TEST_CASE("the e-process falls as the bound that it tests rises") {
  const std::vector<double> x = {0.03, -0.2, 5, 0.02, -0.04, 0.06};
  for (double scale : {0.0, 0.001, 0.02, 1.0}) {
    const Bets bets = bets_for(scale);
    double previous = kInfinity;
    for (double theta = -6; theta < 6; theta += 0.01) {
      const double log_e = log_e_above(x, theta, bets);
      REQUIRE(log_e <= previous + 1e-12);
      REQUIRE(std::isfinite(log_e));
      previous = log_e;
    }
  }
}

TEST_CASE("pairs without a log-ratio do not count, and do not hide the others") {
  auto pairs = pairs_of(std::vector<double>(7, 0.3));
  const auto clean = weigh(pairs, kKey, timed(), 0.05, 0.02, 10);
  pairs.insert(pairs.begin() + 2, {{0, 100}, {kNan, 100}, {100, -5}, {100, kInfinity}});
  const auto mixed = weigh(pairs, kKey, timed(), 0.05, 0.02, 10);
  CHECK(mixed.pairs == 7);
  CHECK(mixed.low == clean.low);
  CHECK(mixed.e_better == clean.e_better);
  CHECK(mixed.base_value == 100);
}

TEST_CASE("ties are evidence for no difference and for nothing else") {
  const auto evidence = weighed(std::vector<double>(10, 0.0));
  CHECK(evidence.effect == 0);
  CHECK(evidence.e_better == Approx(1));
  CHECK(evidence.e_worse == Approx(1));
  CHECK(evidence.low < 0);
  CHECK(evidence.low > -0.03);
  CHECK(evidence.high < 0.03);
}

TEST_CASE("one huge outlier costs a few pairs, not the result") {
  std::vector<double> x(10, 0.06);
  x[3] = -5;
  const auto hit = weighed(x);
  CHECK(hit.effect == Approx(0.06));
  CHECK(hit.e_better < weighed(std::vector<double>(10, 0.06)).e_better / 10);
  x.insert(x.end(), 4, 0.06);
  CHECK(weighed(x).low > 0);
}

TEST_CASE("a hundred thousand pairs and huge effects stay finite") {
  std::vector<double> x(100'000, 0.02);
  for (std::size_t i = 0; i < x.size(); i += 3) x[i] = -0.01;
  const auto many = weighed(x);
  CHECK(many.e_better == kLargestE);
  CHECK(many.e_worse >= 0);
  CHECK(many.low > 0);
  CHECK(many.high < 0.02);
  for (double effect : {700.0, -700.0}) {
    const auto huge = weighed(std::vector<double>(50, effect));
    CHECK(std::isfinite(huge.effect));
    CHECK(std::isfinite(huge.low));
    CHECK(std::isfinite(huge.high));
    CHECK(std::isfinite(huge.e_better));
    CHECK(huge.low <= huge.high);
  }
}

TEST_CASE("unknown noise still bounds clear effects") {
  std::vector<double> x;
  for (int i = 0; i < 10; ++i) x.push_back(0.2 + 0.03 * std::sin(i * 2.4));
  const auto evidence = weighed(x, 0);
  CHECK(evidence.low > 0);
  CHECK(evidence.high < 0.5);
  const auto nonsense = weighed(x, kNan);
  CHECK(nonsense.low == evidence.low);
}

TEST_CASE("an exact counter is decided by one pair, unless its pairs disagree") {
  const auto one = weigh({{1000, 900}}, kKey, timed(true), 0.05, 0, 10);
  CHECK(one.low == one.high);
  CHECK(one.effect == Approx(std::log(1000.0 / 900)));
  CHECK(one.e_better == kLargestE);
  CHECK(one.e_worse == 1);
  const auto same = weigh({{1000, 1000}, {1000, 1000}}, kKey, timed(true), 0.05, 0, 10);
  CHECK(same.effect == 0);
  CHECK(same.low == 0);
  CHECK(same.e_better == 1);
  const auto torn = weigh({{1000, 900}, {1000, 990}}, kKey, timed(true), 0.05, 0, 10);
  CHECK(torn.low == -kUnbounded);
  CHECK(torn.e_better < 40);
  // A/A found that it does not repeat: one pair shows nothing.
  const auto noisy = weigh({{1000, 900}}, kKey, timed(true), 0.05, 0.02, 10);
  CHECK(noisy.low == -kUnbounded);
}

TEST_CASE("a median beyond the metric's limit is flagged") {
  hypotheses::Metric metric{"copy", Better::higher, "GB/s", false, {}, hypotheses::Limit{0, true}};
  const std::vector<PairValues> pairs(3, {300, 500});
  CHECK(weigh(pairs, kKey, metric, 0.05, 0.02, 10).flag.empty());
  CHECK(weigh(pairs, kKey, metric, 0.05, 0.02, 10, {400e9}).flag.starts_with("above the machine"));
}

TEST_CASE("e-values pair by pair are those of all pairs at once") {
  for (double scale : {0.0, 0.02}) {
    const Bets bets = bets_for(scale);
    for (double theta : {-0.05, 0.0, 0.03}) {
      RunningE running(theta, bets);
      CHECK(running.value() == Approx(1));
      std::vector<double> x;
      for (int i = 0; i < 200; ++i) {
        x.push_back(0.02 + 0.05 * std::sin(i * 2.4) + (i % 50 == 7 ? -3 : 0));
        running.add(x.back());
        REQUIRE(std::log(running.value()) == Approx(log_e_above(x, theta, bets)).margin(1e-9));
      }
    }
  }
}

TEST_CASE("a gain above the implausible ratio is flagged, a loss is not") {
  CHECK(weighed(std::vector<double>(3, std::log(12.0))).flag == "above 10x");
  CHECK(weighed(std::vector<double>(3, std::log(9.0))).flag.empty());
  CHECK(weighed(std::vector<double>(3, -std::log(12.0))).flag.empty());
}

TEST_CASE("noise is robust, and never below a tenth of the plain s.d.") {
  CHECK(noise_of({}) == 0);
  CHECK(noise_of({0.1}) == 0);
  CHECK(noise_of({0.3, 0.3, 0.3}) == 0);
  CHECK(noise_of({-0.02, 0.0, 0.02}) == Approx(1.4826 * 0.02));
  CHECK(noise_of({-0.02, 0.0, 0.02, 0.01, -0.01, 9}) < 1);
  const double mostly_equal = noise_of({0, 0, 0, 0, 0, 0, 0, 0, 1});
  CHECK(mostly_equal == Approx(0.1 / 3));
}

TEST_CASE("levels of confirmations sum to the rate and rise with discoveries") {
  double sum = 0;
  for (int t = 1; t <= 100'000; ++t) sum += merge_level(0.05, t, 0);
  CHECK(sum < 0.05);
  CHECK(sum > 0.0498);
  CHECK(merge_level(0.05, 5, 2) == Approx(3 * merge_level(0.05, 5, 0)));
  CHECK(merge_level(0.05, 0, -1) == merge_level(0.05, 1, 0));
  CHECK(merge_level(0.5, 1, 100) == 1);
}

}  // namespace
}  // namespace policies

// The labelled benchmark in small: is the world what it says, is the bill complete, are the rank
// tests right, and do the strategies do what they are for?
#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "policies/bench/lineup.h"
#include "policies/bench/rank_tests.h"
#include "policies/bench/report.h"

namespace policies::bench {
namespace {

constexpr std::uint64_t kSeed = 7;

const Recordings& recordings() {
  static const Recordings kRead = read_recordings(RECORDINGS_DIR).value();
  return kRead;
}

WorldOptions small() { return {.campaigns = 3, .hypotheses = 40}; }

TEST_CASE("a world is the same for the same seed, and has every kind of case") {
  const World world = make_world({}, recordings(), kSeed);
  const World again = make_world({}, recordings(), kSeed);
  REQUIRE(world.cases.size() >= 500);
  int broken = 0, wrong = 0, slower_in_engine = 0, lucky = 0, good = 0, unresolvable = 0;
  for (std::size_t i = 0; i < world.cases.size(); ++i) {
    const Case& subject = world.cases[i];
    CHECK(subject.goal == again.cases[i].goal);
    broken += subject.builds ? 0 : 1;
    wrong += subject.correct ? 0 : 1;
    slower_in_engine += subject.own > 0 && subject.goal < 0 ? 1 : 0;
    lucky += subject.goal_luck > 0 ? 1 : 0;
    good += subject.worth_accepting ? 1 : 0;
    unresolvable += subject.resolvable ? 0 : 1;
    if (subject.worth_accepting) CHECK(subject.goal >= std::log1p(kMinGain));
  }
  for (int count : {broken, wrong, slower_in_engine, lucky, good, unresolvable}) CHECK(count > 3);
  CHECK(good < 200);
}

TEST_CASE("everything that a lab does is on the bill") {
  const World world = make_world(small(), recordings(), kSeed);
  Lab lab(world, recordings(), kSeed);
  Case subject = world.cases.front();
  subject.builds = true;
  lab.build(subject);
  lab.check(subject);
  lab.pair(subject, hypotheses::Layer::engine, BuildOf::first);
  lab.pair_of_base(0, hypotheses::Layer::kernel);
  const Prices prices;
  CHECK(lab.spent_s() == Approx(subject.build_s + prices.check_s + 2 * prices.engine_run_s +
                                2 * prices.kernel_run_s));
  const double before_s = lab.spent_s();
  lab.build_fresh(subject);
  lab.build_fresh(subject);  // the base is built anew once
  CHECK(lab.spent_s() - before_s ==
        Approx(prices.cold_build_s * (1 + 2 * subject.build_s / kBuild_s)));
}

TEST_CASE("a fresh build has lost its luck") {
  const World world = make_world(small(), recordings(), kSeed);
  Lab lab(world, recordings(), kSeed);
  Case lucky = world.cases.front();
  lucky.lineage.layer = hypotheses::Layer::engine;
  lucky.goal = 0;
  lucky.goal_luck = 0.5;
  const auto mean = [&](BuildOf build) {
    double sum = 0;
    for (int i = 0; i < 50; ++i) {
      const PairValues pair = lab.pair(lucky, hypotheses::Layer::engine, build).metric;
      sum += std::log(pair.base / pair.candidate) / 50;
    }
    return sum;
  };
  CHECK(mean(BuildOf::first) == Approx(0.5).margin(0.1));
  CHECK(mean(BuildOf::fresh) == Approx(0).margin(0.1));
}

TEST_CASE("rank tests against their tables") {
  CHECK(mann_whitney_p({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}) == Approx(0.0122).margin(0.001));
  CHECK(mann_whitney_p({1, 2, 3}, {1, 2, 3}) == Approx(1));
  CHECK(mann_whitney_p({1, 1}, {1, 1}) == 1);
  CHECK(signed_rank_p({1, 2, 3, 4, 5, 6}) == Approx(0.036).margin(0.001));
  CHECK(signed_rank_p({1, -1, 2, -2}) == Approx(1));
  CHECK(signed_rank_p({0, 0}) == 1);
  // Pinpoint publishes 35 samples for a shift of one interquartile range.
  CHECK(same_above_p(1, 5) == 1);
  CHECK(same_above_p(1, 35) < 0.05);
}

TEST_CASE("counts: only resolvable cases are right or wrong, the bill is for all") {
  World world;
  world.cases.resize(5);
  world.cases[0].worth_accepting = true;
  world.cases[1].worth_accepting = true;
  world.cases[3].goal = -0.1;
  world.cases[4].resolvable = false;
  const Score score = bench::score(world,
                                   {Outcome::accepted, Outcome::rejected, Outcome::inconclusive,
                                    Outcome::accepted, Outcome::accepted},
                                   100);
  CHECK(score.resolvable == 4);
  CHECK(score.right == 1);
  CHECK(score.s_per_right() == 100);
  CHECK(score.false_accept_rate() == 0.5);
  CHECK(score.false_discovery_rate() == 0.5);
  CHECK(score.false_reject_rate() == 0.5);
  CHECK(score.inconclusive_rate() == 0.25);
  CHECK(score.regression_rate() == Approx(1.0 / 3));
}

TEST_CASE("Nightshift accepts what is good, merges no regression, and its ideas pay") {
  std::cout << "seed " << kSeed << "\n";
  const std::vector<std::uint64_t> seeds = {kSeed, kSeed + 1};
  const Score ours = play_all(nightshift_as_shipped(), small(), recordings(), seeds).total();
  CHECK(ours.regressions == 0);
  CHECK(ours.false_discovery_rate() <= 0.05);
  CHECK(ours.missed_rate() < 0.3);
  CHECK(ours.inconclusive_rate() < 0.1);
  const auto without = ablations();
  const Score dear = play_all(without.front(), small(), recordings(), seeds).total();
  CHECK(ours.s_per_right() < 0.8 * dear.s_per_right());  // the engine is asked at once
  const Score floor = play_all(lower_bound(), small(), recordings(), seeds).total();
  CHECK(floor.s_per_right() < ours.s_per_right());
  CHECK(floor.right == floor.resolvable);
}

TEST_CASE("the best competitor is the cheapest among those that err as seldom") {
  Result ours, sloppy, careful;
  const auto with = [](double spent_s, int false_accepts) {
    Score score;
    score.spent_s = spent_s;
    score.right = 500;
    score.good = score.accepted = 100;
    score.bad = 400;
    score.false_accepts = false_accepts;
    return score;
  };
  ours.competes = false;
  ours.by_seed = {with(10, 0)};
  sloppy.by_seed = {with(20, 30)};
  careful.by_seed = {with(30, 0)};
  const std::vector<Result> results = {ours, sloppy, careful};
  CHECK(best_competitor(results) == &results[2]);
  CHECK(best_competitor({ours, sloppy}) == nullptr);
}

}  // namespace
}  // namespace policies::bench

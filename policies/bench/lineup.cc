#include "policies/bench/lineup.h"

#include "policies/bench/competitors.h"
#include "policies/bench/nightshift.h"

namespace policies::bench {
namespace {

Fresh fresh_of(double value) { return static_cast<Fresh>(static_cast<int>(value)); }
int whole(double value) { return static_cast<int>(value); }

const Dial kFresh{"fresh build", {0, 1, 2}};  // never, at the engine, to confirm
const std::vector<double> kFewPairs = {0, 2, 3, 4, 6, 8, 10, 15, 20};
const std::vector<double> kEnginePairs = {3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 40};
const std::vector<double> kLocalGains = {0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.16, 0.2};
const std::vector<double> kEngineGains = {0.01, 0.0125, 0.015, 0.0175, 0.02, 0.0225, 0.025, 0.03};
const std::vector<double> kAlphas = {0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2};

// A ladder whose first two rungs have the same settings, since most cases see only one of them.
Tunable tunable_ladder(const std::string& name, Test test, std::vector<double> tuned) {
  const auto make = [name, test](const std::vector<double>& v) {
    LadderSettings settings;
    settings.test = test;
    settings.rungs = {Rung{whole(v[0]), v[1], v[2]}, Rung{whole(v[3]), v[1], v[2]},
                      Rung{whole(v[4]), v[5], v[6]}};
    settings.fresh = fresh_of(v[7]);
    return ladder(name, settings);
  };
  const std::vector<double> alphas = test == Test::none ? std::vector<double>{1} : kAlphas;
  return {name,
          {{"kernel pairs", kFewPairs},
           {"local gain", kLocalGains},
           {"local p", alphas},
           {"component pairs", kFewPairs},
           {"engine pairs", kEnginePairs},
           {"engine gain", kEngineGains},
           {"engine p", alphas},
           kFresh},
          make,
          std::move(tuned)};
}

Tunable tunable_engine(const std::string& name, Test test, std::vector<double> tuned) {
  const auto make = [name, test](const std::vector<double>& v) {
    LadderSettings settings;
    settings.test = test;
    settings.rungs = {Rung{}, Rung{}, Rung{whole(v[0]), v[1], v[2]}};
    settings.fresh = fresh_of(v[3]);
    return ladder(name, settings);
  };
  return {name,
          {{"engine pairs", kEnginePairs}, {"engine gain", kEngineGains}, {"p", kAlphas}, kFresh},
          make,
          std::move(tuned)};
}

Tunable tunable_pinpoint(std::vector<double> tuned) {
  const auto make = [](const std::vector<double>& v) {
    PinpointSettings settings;
    settings.magnitude = v[0];
    settings.low = v[1];
    settings.step = whole(v[2]);
    settings.most = whole(v[3]);
    settings.gain = v[4];
    settings.fresh = fresh_of(v[5]);
    return pinpoint("three-way ladder", settings);
  };
  return {"three-way ladder",
          {{"magnitude", {0.3, 0.5, 0.7, 1, 1.3, 1.6, 2}},
           {"low", kAlphas},
           {"step", {5, 10}},
           {"most", {10, 20, 30, 40, 60}},
           {"gain", kEngineGains},
           kFresh},
          make,
          std::move(tuned)};
}

Tunable tunable_pruner(std::vector<double> tuned) {
  const auto make = [](const std::vector<double>& v) {
    return median_pruner("median pruner", {whole(v[0]), whole(v[1]), v[2], fresh_of(v[3])});
  };
  return {
      "median pruner",
      {{"warm-up", {0, 1, 2, 3, 4, 6, 8}}, {"most", kEnginePairs}, {"gain", kEngineGains}, kFresh},
      make,
      std::move(tuned)};
}

Tunable tunable_sequential(std::vector<double> tuned) {
  const auto make = [](const std::vector<double>& v) {
    return sequential_engine("engine A/B, sequential", {v[0], whole(v[1]), fresh_of(v[2])});
  };
  return {"engine A/B, sequential",
          {{"alpha", {0.05, 0.1, 0.2}}, {"most", {20, 40}}, kFresh},
          make,
          std::move(tuned)};
}

}  // namespace

// The tuned values are what `decision_bench --tune` prints.
std::vector<Tunable> competitors() {
  return {
      tunable_ladder("fixed ladder", Test::mann_whitney, {6, 0.03, 0.02, 6, 10, 0.02, 0.2, 1}),
      tunable_ladder("fixed ladder, paired", Test::signed_rank,
                     {15, 0.05, 0.2, 3, 8, 0.0225, 0.2, 1}),
      tunable_pinpoint({2, 0.2, 5, 10, 0.02, 2}),
      tunable_ladder("score cascade", Test::none, {2, 0.08, 1, 8, 8, 0.025, 1, 1}),
      tunable_pruner({6, 5, 0.02, 2}),
      tunable_engine("engine A/B, fixed", Test::signed_rank, {8, 0.0225, 0.2, 2}),
      tunable_sequential({0.2, 40, 2}),
  };
}

std::vector<Strategy> published() {
  PinpointSettings usual;  // as published: p below 1%, shifts of one interquartile range
  return {pinpoint("three-way ladder, as published", usual)};
}

Strategy nightshift_as_shipped() { return nightshift("Nightshift", {}); }

Strategy lower_bound() {
  constexpr int kFewest = 5;  // a bet wins less than a factor of 2: five pairs for 20
  return {"knows the truth",
          "builds and checks all, five engine pairs and a fresh build for the good",
          [](const World& world, Lab& lab) {
            std::vector<Outcome> outcomes;
            for (const Case& subject : world.cases) {
              if (lab.build(subject)) lab.check(subject);
              outcomes.push_back(subject.worth_accepting ? Outcome::accepted : Outcome::rejected);
              if (!subject.worth_accepting) continue;
              lab.build_fresh(subject);
              for (int i = 0; i < kFewest; ++i) {
                lab.pair(subject, hypotheses::Layer::engine, BuildOf::fresh);
              }
            }
            return outcomes;
          }};
}

std::vector<Strategy> ablations() {
  std::vector<Strategy> made;
  const auto add = [&](const std::string& name, bool NightshiftSettings::*idea) {
    NightshiftSettings settings;
    settings.*idea = false;
    made.push_back(nightshift("without " + name, settings));
  };
  add("the cheapest probe first", &NightshiftSettings::cheapest_first);
  add("the bound from shares", &NightshiftSettings::shares);
  add("giving up", &NightshiftSettings::gives_up);
  add("looking after every pair", &NightshiftSettings::sequential);
  add("correctness first", &NightshiftSettings::correct_first);
  add("the order by cost per refutation", &NightshiftSettings::question_order);
  add("learning (track, shrink, costs)", &NightshiftSettings::learns);
  add("the A/A noise in the bets", &NightshiftSettings::noise_scale);
  add("confirming at once", &NightshiftSettings::confirms_at_once);
  add("confirmation on a fresh build", &NightshiftSettings::confirms);
  return made;
}

}  // namespace policies::bench

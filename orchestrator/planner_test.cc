// The built-in planner: a pure search over the knobs.
#include "orchestrator/planner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "orchestrator/test_view.h"

namespace orchestrator {
namespace {

using hypotheses::Verdict;

constexpr std::uint64_t kSeeds = 20;

std::string told(const Step& step) {
  if (const auto* stop = std::get_if<Stop>(&step)) return "stop: " + stop->reason;
  const auto& proposal = std::get<Proposal>(step);
  return to_text(proposal.change) + "; " + to_text(proposal.prediction) + "; " + proposal.claim;
}

std::string change_of(const Step& step) {
  const auto* proposal = std::get_if<Proposal>(&step);
  return proposal == nullptr ? "stop" : to_text(proposal->change);
}

// Time of a setting: the best is tile 64 with variant 1.
double time_of(const std::map<std::string, std::string>& settings) {
  static const std::map<std::string, double> kTile = {{"16", 1.3}, {"32", 1}, {"64", 0.8}};
  static const std::map<std::string, double> kVariant = {{"0", 1}, {"1", 0.7}, {"2", 1.6}};
  return kTile.at(settings.at("toy.tile")) * kVariant.at(settings.at("toy.variant"));
}

// Judges the step by `time_of` and goes on from what is supported.
void judge(PlannerView& view, const Proposal& proposal) {
  auto id = static_cast<std::int64_t>(view.history.size() + 1);
  PastClaim past = toy_past(view, id, proposal.change.knobs, Verdict::refuted, 0);
  past.effect = std::log(time_of(view.settings) / time_of(past.settings));
  if (past.effect > 0) past.verdict = Verdict::supported;
  view.history.push_back(past);
  ++view.turn;
  if (past.verdict != Verdict::supported) return;
  view.incumbent = past.id;
  view.settings = past.settings;
}

// A view in which one ordered knob offers more than one step on either side of its value, 8.
PlannerView wide_view(std::uint64_t seed) {
  PlannerView view = toy_view();
  view.seed = seed;
  view.manifest.knobs.erase("toy.variant");
  view.settings = {{"toy.tile", "8"}};
  view.manifest.knobs.at("toy.tile").choices = {"2", "4", "8", "16", "32"};
  return view;
}

}  // namespace

TEST_CASE("the same view gives the same step, another seed may give another") {
  std::set<std::string> first;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PlannerView view = toy_view();
    view.seed = seed;
    CHECK(told(next_step(view)) == told(next_step(view)));
    first.insert(change_of(next_step(view)));
  }
  CHECK(first.size() > 1);
}

TEST_CASE("every step is one that the campaign takes, none is made twice, and the search ends") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    PlannerView view = toy_view();
    view.seed = seed;
    std::set<std::map<std::string, std::string>> seen = {view.settings};
    std::string stopped;
    while (stopped.empty()) {
      REQUIRE(view.history.size() < 9);  // there are no more combinations
      Step step = next_step(view);
      if (const auto* stop = std::get_if<Stop>(&step)) {
        stopped = stop->reason;
        break;
      }
      const auto& proposal = std::get<Proposal>(step);
      CHECK(refusal(proposal, view, {}).value_or("taken") == "taken");
      CHECK(proposal.change.knobs.size() == 1);
      judge(view, proposal);
      CHECK(seen.insert(view.history.back().settings).second);
    }
    CHECK_FALSE(stopped.empty());
    CHECK(view.settings.at("toy.tile") == "64");
    CHECK(view.settings.at("toy.variant") == "1");
  }
}

TEST_CASE("the order of knobs and choices in the manifest changes nothing") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PlannerView view = toy_view();
    view.seed = seed;
    PlannerView turned = view;
    for (auto& [name, knob] : turned.manifest.knobs) {
      std::reverse(knob.choices.begin(), knob.choices.end());
    }
    CHECK(told(next_step(view)) == told(next_step(turned)));
  }
}

TEST_CASE("beyond a refuted neighbour it looks last") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    PlannerView view = wide_view(seed);
    view.history = {toy_past(view, 1, {{"toy.tile", "16"}}, Verdict::refuted, -0.05)};
    view.turn = 2;
    std::vector<std::string> order;
    for (Step step = next_step(view); change_of(step) != "stop"; step = next_step(view)) {
      order.push_back(change_of(step));
      auto id = static_cast<std::int64_t>(view.history.size() + 1);
      auto knobs = std::get<Proposal>(step).change.knobs;
      view.history.push_back(toy_past(view, id, knobs, Verdict::no_difference, 0));
      ++view.turn;
    }
    REQUIRE(order.size() == 3);
    CHECK(order.back() == "toy.tile = 32");
  }
}

TEST_CASE("a refuted neighbour on one side says nothing about the other, nor about words") {
  PlannerView view = wide_view(1);
  view.history = {toy_past(view, 1, {{"toy.tile", "4"}}, Verdict::refuted, -0.05)};
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    view.seed = seed;
    seen.insert(change_of(next_step(view)));
  }
  CHECK(seen == std::set<std::string>{"toy.tile = 16", "toy.tile = 32"});
  view.manifest.knobs.at("toy.tile").choices = {"2", "4", "8", "16", "auto"};
  seen.clear();
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    view.seed = seed;
    seen.insert(change_of(next_step(view)));
  }
  CHECK(seen.count("toy.tile = 2") == 1);
}

TEST_CASE("what was clearly worse beside one incumbent is not tried beside the next") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PlannerView view = toy_view();
    view.seed = seed;
    view.history = {toy_past(view, 1, {{"toy.tile", "16"}}, Verdict::refuted, -0.3),
                    toy_past(view, 2, {{"toy.variant", "1"}}, Verdict::supported, 0.4)};
    view.incumbent = {2};
    view.settings["toy.variant"] = "1";
    std::set<std::string> steps;
    for (Step step = next_step(view); change_of(step) != "stop"; step = next_step(view)) {
      steps.insert(change_of(step));
      auto id = static_cast<std::int64_t>(view.history.size() + 1);
      view.history.push_back(
          toy_past(view, id, std::get<Proposal>(step).change.knobs, Verdict::no_difference, 0));
      ++view.turn;
    }
    CHECK(steps == std::set<std::string>{"toy.tile = 64", "toy.variant = 2"});
  }
}

TEST_CASE("what was judged on another base is tried again") {
  PlannerView view = toy_view();
  view.manifest.knobs.erase("toy.variant");
  view.history = {toy_past(view, 1, {{"toy.tile", "16"}}, Verdict::refuted, -0.3),
                  toy_past(view, 2, {{"toy.tile", "64"}}, Verdict::refuted, -0.3)};
  CHECK(change_of(next_step(view)) == "stop");
  for (PastClaim& past : view.history) past.same_base = false;
  CHECK(change_of(next_step(view)) != "stop");
}

TEST_CASE("it predicts what changes of the knob brought before, the right way round") {
  PlannerView view = toy_view();
  view.manifest.knobs.erase("toy.variant");
  view.settings = {{"toy.tile", "32"}};
  const auto size = [](const Step& step) { return std::get<Proposal>(step).prediction.log_ratio; };
  CHECK(size(next_step(view)) == Approx(std::log(0.9)));  // a first guess
  view.history = {toy_past(view, 1, {{"toy.tile", "16"}}, Verdict::supported, 0.5)};
  view.incumbent = {1};
  view.settings = {{"toy.tile", "16"}};
  CHECK(size(next_step(view)) == Approx(std::log(1 - 0.39)));  // in whole percents
  view.manifest.probes.at("toy.bench").metrics.at("toy.time").better = hypotheses::Better::higher;
  CHECK(size(next_step(view)) == Approx(std::log(1 + 0.65)));
}

TEST_CASE("a knob that the goal's probe does not cover is left to other campaigns") {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PlannerView view = toy_view();
    view.seed = seed;
    view.manifest.probes.at("toy.bench").covers = {"knob:toy.variant"};
    CHECK(change_of(next_step(view)).find("toy.variant") == 0);
    view.manifest.probes.at("toy.bench").covers = {"kernels/**"};
    CHECK(change_of(next_step(view)) == "stop");
  }
}

TEST_CASE("without knobs, or with all of them tried, it stops and says why") {
  PlannerView view = toy_view();
  view.manifest.knobs.clear();
  view.settings.clear();
  Step step = next_step(view);
  REQUIRE(std::holds_alternative<Stop>(step));
  CHECK(std::get<Stop>(step).reason.find("knobs") != std::string::npos);
}

}  // namespace orchestrator

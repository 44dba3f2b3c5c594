// People and the world interfere with a running night: pauses, budgets, completions that come late,
// twice or never, a disk that is full.
#include <catch2/catch.hpp>
#include <limits>

#include "hypotheses/transitions.h"
#include "orchestrator/test_loop.h"

namespace orchestrator {
namespace {

using hypotheses::CampaignState;
using hypotheses::ExperimentState;
using hypotheses::HypothesisState;
using hypotheses::NightState;

std::vector<std::string> quiet_verdicts(const FakeWorld& world) {
  TestLoop loop(world);
  loop.campaign();
  loop.run_to_end();
  return loop.verdicts();
}

// A night on an exact world is about this many commits long; faults are injected all along it.
constexpr int kCommits = 60;

}  // namespace

TEST_CASE(
    "a pause at any time finishes what runs and starts nothing, a resume ends the night alike") {
  auto expected = quiet_verdicts(tile_world(1, true));
  for (int at = 1; at < kCommits; at += 5) {
    CAPTURE(at);
    TestLoop loop(tile_world(1, true));
    auto campaign = loop.campaign();
    int steps = 0;
    loop.run([&](const State&) { return ++steps >= at; });
    loop.give(web::SetCampaignState{campaign, CampaignState::paused, "people at work"});
    int started = loop.count("experiment-started");
    loop.run([](const State&) { return false; });
    CHECK(loop.state().pending.empty());
    CHECK(loop.count("experiment-started") == started);
    loop.give(web::SetCampaignState{campaign, CampaignState::active, ""});
    loop.run_to_end();
    expect_sound(loop);
    CHECK(loop.verdicts() == expected);
  }
}

TEST_CASE("a cancel at any time ends everything, also what completes late") {
  for (int at = 1; at < kCommits; at += 3) {
    CAPTURE(at);
    TestLoop loop(tile_world(1, true));
    auto campaign = loop.campaign();
    int steps = 0;
    loop.run([&](const State&) { return ++steps >= at; });
    loop.give(web::SetCampaignState{campaign, CampaignState::cancelled, "enough"});
    loop.run_to_end();
    expect_sound(loop);
    for (const auto& [id, night] : loop.state().nights) {
      CHECK(night.night.state == NightState::ended);
    }
    for (const auto& [id, record] : loop.state().experiments) {
      CHECK(record.experiment.state != ExperimentState::running);
    }
    for (const auto& [id, hypothesis] : loop.state().hypotheses) {
      CHECK(hypotheses::terminal(hypothesis.state));
    }
    CHECK(loop.state().campaigns.at(campaign).open.empty());
    CHECK(loop.refused(web::StartNight{campaign}).code == base::ErrorCode::conflict);
    loop.crash();
    loop.start();
    loop.run_to_end();
    expect_sound(loop);
  }
}

TEST_CASE(
    "a campaign that is cancelled while an approved merge is measured anew leaves nothing open") {
  for (int later = 0; later < 12; ++later) {
    CAPTURE(later);
    TestLoop loop(tile_world(1, true));
    auto campaign = loop.campaign();
    loop.run_to_end();
    loop.target.push({loop.target.tree(loop.target.tip()).knobs, {{"doc", "x"}}});
    loop.give(web::Approve{{1}, {}, "ann"});
    int steps = 0;
    loop.run([&](const State&) { return ++steps > later; });
    loop.give(web::SetCampaignState{campaign, CampaignState::cancelled, "enough"});
    loop.run_to_end();
    expect_sound(loop);
  }
}

TEST_CASE("work in flight counts: no budget is exceeded at any step") {
  const std::string merge = "merge: {on_kernel_evidence: true}\n";
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    for (const char* budget :
         {"machine: 30s", "machine: 61s", "machine: 90s", "machine: 130s", "machine: 200s",
          "experiments: 1", "experiments: 4", "experiments: 11", "wall: 40s", "wall: 100s"}) {
      CAPTURE(seed, budget);
      TestLoop loop(tile_world(seed, false));
      loop.campaign(merge + "budget: {" + budget + "}\n", seed);
      loop.run_to_end();
      expect_sound(loop);
      REQUIRE(loop.state().nights.size() == 1);
      CHECK(loop.state().nights.at({1}).night.state == NightState::ended);
      CHECK_FALSE(loop.state().nights.at({1}).night.reason.empty());
    }
  }
}

TEST_CASE("the last experiment that the budget allows is carried through, not given up") {
  TestLoop loop(tile_world(1, false));
  loop.campaign("merge: {on_kernel_evidence: true}\nbudget: {experiments: 4}\n");
  loop.run_to_end();
  expect_sound(loop);
  REQUIRE(loop.state().experiments.size() == 4);  // noise, builds, correct, own metric
  const ExperimentRecord& last = loop.state().experiments.rbegin()->second;
  CHECK(last.experiment.question == hypotheses::Question::own_metric);
  CHECK(last.attempts > 1);
  REQUIRE(last.experiment.answer);
  CHECK(last.experiment.answer->verdict != hypotheses::Verdict::inconclusive);
}

TEST_CASE(
    "where everything takes longer than expected, one attempt passes the budget and no more") {
  for (const char* budget : {"150s", "300s", "500s", "700s", "1100s"}) {
    CAPTURE(budget);
    FakeWorld world = toy_world(1, false);
    world.build_s = 60;
    world.run_s = 6;
    TestLoop loop(world);
    loop.campaign(std::string("merge: {on_kernel_evidence: true}\nbudget: {machine: ") + budget +
                  "}\n");
    loop.run_to_end();
    expect_sound(loop);
    CHECK(loop.state().nights.at({1}).night.state == NightState::ended);
  }
}

TEST_CASE("tokens that were asked for count until the answer comes, and the limit holds") {
  const std::string policy =
      "merge: {on_kernel_evidence: true}\n"
      "planner: {kind: llm, endpoint: \"http://localhost\", model: toy, max_tokens: 10000, "
      "answer_tokens: 3000, patience: 100}\n";
  TestLoop loop(toy_world(1, true));
  int asked = 0;
  loop.performer->planner = [&](const PlannerOrder& order) {
    ++asked;
    CHECK(order.ask.reserved_tokens == std::min(3 * 3000, 10000 - (asked - 1) * 2500));
    hypotheses::PlannerTurn turn{{1}, order.ask.night, order.ask.turn, "llm", 2500, "refused", "?"};
    return PlannerAnswered{{}, 2500, {turn}, "nothing usable"};
  };
  loop.campaign(policy);
  bool in_flight_seen = false;
  loop.on_commit = [&](const State& state) {
    for (const auto& [id, night] : state.nights) {
      auto spend = spend_of(state, night);
      in_flight_seen |= spend.tokens > night.spend.tokens;
      CHECK(spend.tokens <= 10000);
    }
  };
  loop.run_to_end();
  expect_sound(loop);
  CHECK(in_flight_seen);
  CHECK(asked == 3);  // 7500 spent; a fourth answer might take 3000
  CHECK(loop.state().nights.at({1}).spend.tokens == 7500);
  CHECK(loop.merge().state == hypotheses::MergeState::waiting);  // the built-in planner went on
}

TEST_CASE("every completion twice: the second is noted and changes nothing") {
  auto expected = quiet_verdicts(tile_world(1, true));
  TestLoop loop(tile_world(1, true));
  loop.performer->fate = [](const Order&) { return Fate::arrives_twice; };
  loop.campaign();
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.verdicts() == expected);
  CHECK(loop.count("late or duplicate completion") > 10);
}

TEST_CASE("a completion that comes after its campaign was cancelled is noted and changes nothing") {
  TestLoop loop(toy_world(1, true));
  auto campaign = loop.campaign();
  int attempts = 0;
  loop.performer->fate = [&](const Order& order) {
    bool held = std::holds_alternative<AttemptOrder>(order.what) && ++attempts == 3;
    return held ? Fate::late : Fate::arrives;
  };
  loop.run([](const State&) { return false; });
  REQUIRE(loop.state().pending.size() == 1);  // still waits for it
  loop.give(web::SetCampaignState{campaign, CampaignState::cancelled, "enough"});
  loop.run_to_end();
  auto before = loop.verdicts();
  auto runs = loop.state().next_run;
  CHECK(loop.performer->deliver_late() == 1);
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.verdicts() == before);
  CHECK(loop.state().next_run == runs);
  CHECK(loop.count("late or duplicate completion") == 1);
}

TEST_CASE("a completion that is lost is had again after a restart, whichever it is") {
  auto expected = quiet_verdicts(tile_world(1, true));
  for (int nth = 1; nth < 40; ++nth) {
    CAPTURE(nth);
    TestLoop loop(tile_world(1, true));
    int orders = 0;
    loop.performer->fate = [&](const Order&) {
      return ++orders == nth ? Fate::lost : Fate::arrives;
    };
    loop.campaign();
    loop.run([](const State&) { return false; });
    loop.crash();
    loop.start();
    loop.run_to_end();
    expect_sound(loop);
    CHECK(loop.verdicts() == expected);
  }
}

TEST_CASE("a machine that cannot run anything makes candidates invalid and the night ends") {
  TestLoop loop(toy_world(1, true));
  loop.performer->answer = [](const Order& order) -> std::optional<Completion> {
    if (!std::holds_alternative<AttemptOrder>(order.what)) return {};
    return EffectFailed{{base::ErrorCode::unavailable, "no sandbox", "bwrap"}};
  };
  loop.campaign();
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.state().nights.at({1}).night.state == NightState::ended);
  for (const auto& [id, hypothesis] : loop.state().hypotheses) {
    CHECK(hypothesis.verdict == hypotheses::Verdict::invalid);
    CHECK(hypothesis.reason.find("no sandbox") != std::string::npos);
  }
}

TEST_CASE(
    "an attempt that comes back without any run ends its experiment instead of going on for ever") {
  TestLoop loop(tile_world(1, true));
  loop.performer->answer = [](const Order& order) -> std::optional<Completion> {
    if (!std::holds_alternative<AttemptOrder>(order.what)) return {};
    return AttemptDone{};
  };
  loop.campaign();
  int steps = 0;
  loop.run([&](const State&) { return ++steps > 500; });
  CHECK(steps < 500);
  loop.run_to_end();
  expect_sound(loop);
}

TEST_CASE("a value that is not finite is refused at the door, named, and the night goes on") {
  for (double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    FakeWorld world = toy_world(1, true);
    world.value = [bad, value = world.value](const FakeTree& tree,
                                             const hypotheses::MetricKey& key) {
      return tree.knobs.at("toy.tile") == "64" ? bad : value(tree, key);
    };
    TestLoop loop(world);
    loop.campaign();
    loop.run_to_end();
    expect_sound(loop);
    CHECK(loop.shell->trouble().empty());
    CHECK(loop.state().nights.at({1}).night.state == NightState::ended);
    CHECK(loop.count("toy.time{batch=1} is not finite") >= 1);
    for (const auto& [id, hypothesis] : loop.state().hypotheses) {
      if (to_text(hypothesis.change) != "toy.tile = 64") continue;
      CHECK(hypothesis.verdict == hypotheses::Verdict::refuted);
    }
  }
}

}  // namespace orchestrator

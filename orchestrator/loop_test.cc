// Whole nights: the real decide(), shell and store against a fake world.
#include <catch2/catch.hpp>
#include <iostream>

#include "orchestrator/test_loop.h"

namespace orchestrator {
namespace {

using hypotheses::CampaignState;
using hypotheses::Hypothesis;
using hypotheses::MergeState;
using hypotheses::NightState;
using hypotheses::Question;
using hypotheses::Verdict;

const Hypothesis& hypothesis_of(const State& state, const std::string& change) {
  for (const auto& [id, hypothesis] : state.hypotheses) {
    if (to_text(hypothesis.change) == change) return hypothesis;
  }
  FAIL("nobody proposed " << change);
  return state.hypotheses.begin()->second;
}

bool measured(const State& state, hypotheses::HypothesisId hypothesis, Question question) {
  for (const auto& [id, record] : state.experiments) {
    if (record.experiment.hypothesis == hypothesis && record.experiment.question == question) {
      return true;
    }
  }
  return false;
}

web::Propose proposal(hypotheses::CampaignId campaign, hypotheses::Change change) {
  web::Propose propose;
  propose.campaign = campaign;
  propose.claim = "does less work";
  propose.change = std::move(change);
  propose.prediction = prediction("toy.time{batch=1} -30%");
  return propose;
}

}  // namespace

TEST_CASE("a night finds what is faster, refutes the rest, and ends with a merge that waits") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    std::cout << "a night, seed " << seed << "\n";
    CAPTURE(seed);
    TestLoop loop(toy_world(seed, false));
    loop.campaign(kToyPolicy, seed);
    loop.run_to_end();
    expect_sound(loop);
    const State& state = loop.state();
    CHECK(hypothesis_of(state, "toy.variant = 1").verdict == Verdict::supported);
    CHECK(hypothesis_of(state, "toy.tile = 64").verdict == Verdict::supported);
    CHECK(hypothesis_of(state, "toy.tile = 16").verdict == Verdict::refuted);
    REQUIRE(state.merges.size() == 1);
    CHECK(loop.merge().state == MergeState::waiting);
    auto knobs = loop.target.tree(loop.merge().merged).knobs;
    CHECK(knobs.at("toy.tile") == "64");
    CHECK(knobs.at("toy.variant") == "1");
    CHECK(loop.merge().known.find("own-metric") != std::string::npos);
    CHECK(loop.merge().unknown.find("engine") != std::string::npos);
    CHECK(loop.target.history().size() == 1);  // nobody approved anything
    CHECK_FALSE(state.nights.at({1}).night.reason.empty());
  }
}

TEST_CASE("a wrong fast variant is refuted by its check before any benchmark of it is started") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    TestLoop loop(toy_world(seed, false));
    loop.campaign(kToyPolicy, seed);
    loop.run_to_end();
    const Hypothesis& wrong = hypothesis_of(loop.state(), "toy.variant = 2");
    CHECK(wrong.verdict == Verdict::refuted);
    CHECK(wrong.reason.find("first mismatch at [3]") != std::string::npos);
    CHECK(measured(loop.state(), wrong.id, Question::correct));
    CHECK_FALSE(measured(loop.state(), wrong.id, Question::own_metric));
    CHECK_FALSE(measured(loop.state(), wrong.id, Question::guards));
  }
}

TEST_CASE("what does not build is refuted with the compiler's error and costs nothing more") {
  FakeWorld world = toy_world(1, true);
  world.build = [](const FakeTree& tree) {
    return tree.knobs.at("toy.tile") == "64" ? hypotheses::RunOutcome::build_failed
                                             : hypotheses::RunOutcome::ok;
  };
  TestLoop loop(world);
  loop.campaign();
  loop.run_to_end();
  expect_sound(loop);
  const Hypothesis& broken = hypothesis_of(loop.state(), "toy.tile = 64");
  CHECK(broken.verdict == Verdict::refuted);
  CHECK(broken.reason.find("src/toy.cc:3: error") != std::string::npos);
  CHECK_FALSE(measured(loop.state(), broken.id, Question::correct));
}

TEST_CASE("a base that does not build itself makes its candidates invalid, never refuted") {
  FakeWorld world = toy_world(1, true);
  world.build = [](const FakeTree&) { return hypotheses::RunOutcome::build_failed; };
  TestLoop loop(world);
  loop.campaign(std::string(kToyPolicy) + "evidence: {noise_pairs: 0}\n");
  loop.run_to_end();
  expect_sound(loop);
  REQUIRE_FALSE(loop.state().hypotheses.empty());
  for (const auto& [id, hypothesis] : loop.state().hypotheses) {
    CHECK(hypothesis.verdict == Verdict::invalid);
  }
}

TEST_CASE("a candidate that edits a protected path ends invalid with that reason") {
  TestLoop loop(toy_world(1, true));
  auto campaign = loop.campaign(kToyPolicy, 1, "", false);
  // No manifest was read yet: only the gate can see it.
  loop.give(proposal(campaign, {{}, {{"bench/toy.cc", "timer", "no timer"}}, ""}));
  loop.give(web::StartNight{campaign});
  loop.run_to_end();
  expect_sound(loop);
  const Hypothesis& cheat = loop.state().hypotheses.at({1});
  CHECK(cheat.verdict == Verdict::invalid);
  CHECK(cheat.reason.find("protected") != std::string::npos);
  CHECK(cheat.reason.find("bench/toy.cc") != std::string::npos);
  CHECK_FALSE(measured(loop.state(), cheat.id, Question::builds));

  // With the manifest known it does not even get an id.
  auto error = loop.refused(proposal(campaign, {{}, {{"bench/toy.cc", "timer", "no timer"}}, ""}));
  CHECK(error.code == base::ErrorCode::refused);
  CHECK(error.message.find("bench/toy.cc is protected") != std::string::npos);
}

TEST_CASE("a pushed branch is a hypothesis too, and is as little allowed to touch the benchmark") {
  FakeWorld world = toy_world(1, true);
  world.branches["try/fast"] = world.first;
  world.branches["try/fast"].files["src/toy.cc"] = "int fast() { return 1; }\n";
  world.branches["try/cheat"] = world.first;
  world.branches["try/cheat"].files["bench/toy.cc"] = "no timer\n";
  TestLoop loop(world);
  auto campaign = loop.campaign(kToyPolicy, 1, "", false);
  loop.give(proposal(campaign, {{}, {}, "try/fast"}));
  loop.give(proposal(campaign, {{}, {}, "try/cheat"}));
  loop.give(web::StartNight{campaign});
  loop.run_to_end();
  expect_sound(loop);
  CHECK(hypothesis_of(loop.state(), "branch try/fast").verdict == Verdict::supported);
  CHECK(hypothesis_of(loop.state(), "branch try/cheat").verdict == Verdict::invalid);
}

TEST_CASE("a person's proposal is taken up before the planner's next step") {
  TestLoop loop(toy_world(1, true));
  auto campaign = loop.campaign();
  bool given = false;
  loop.run([&](const State& state) {
    if (!given && state.hypotheses.size() == 1) {
      loop.give(proposal(campaign, {{}, {{"src/toy.cc", "toy()", "fast()"}}, ""}));
      given = true;
    }
    return false;
  });
  REQUIRE(given);
  loop.run_to_end();
  expect_sound(loop);
  const Hypothesis& persons = loop.state().hypotheses.at({2});
  CHECK(persons.origin == hypotheses::Origin::person);
  CHECK(persons.verdict == Verdict::supported);
  CHECK(loop.target.tree(loop.merge().merged).files.at("src/toy.cc").find("fast") !=
        std::string::npos);
}

TEST_CASE("a machine that differs from itself ends the night before anything is believed") {
  FakeWorld world = toy_world(3, false);
  TestLoop loop(world);
  // Whatever runs second is slower by a third.
  loop.performer->answer = [&](const Order& order) -> std::optional<Completion> {
    const auto* attempt = std::get_if<AttemptOrder>(&order.what);
    if (attempt == nullptr) return {};
    AttemptDone done;
    for (hypotheses::Side side : attempt->sides) {
      hypotheses::Run run;
      run.side = side;
      run.outcome = hypotheses::RunOutcome::ok;
      run.wall_s = 0.1;
      double value = side == hypotheses::Side::base ? 100 : 150;
      run.observations.push_back({attempt->experiment.key, value + attempt->attempt * 0.01, "ns"});
      done.runs.push_back(run);
    }
    return Completion{done};
  };
  loop.campaign("merge: {on_kernel_evidence: true}\nevidence: {noise_pairs: 12}\n");
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.state().hypotheses.empty());
  CHECK(loop.state().nights.at({1}).night.reason.find("not fit") != std::string::npos);
}

TEST_CASE("what moves more bytes than the machine can copy is not believed") {
  FakeWorld world = tile_world(1, false);
  const std::string time = "{better: lower, unit: ns, exact: false}";
  world.manifest.replace(world.manifest.find(time), time.size(),
                         "{better: higher, unit: GB/s, limit: copy_rate}");
  for (double copy_rate : {110e9, 2000e9}) {
    CAPTURE(copy_rate);
    TestLoop loop(world);
    loop.performer->answer = [&](const Order& order) -> std::optional<Completion> {
      if (!std::holds_alternative<OpenNightOrder>(order.what)) return {};
      return NightOpened{loop.target.tip(), world.manifest, world.first.knobs, copy_rate};
    };
    loop.campaign();
    loop.run_to_end();
    expect_sound(loop);
    const Hypothesis& fast =
        hypothesis_of(loop.state(), "toy.tile = 16");  // 130 GB/s; 910 at batch 8
    CAPTURE(fast.reason, fast.claim);
    CHECK(fast.verdict == (copy_rate < 130e9 ? Verdict::invalid : Verdict::supported));
    CHECK((fast.reason.find("the machine's copy rate") != std::string::npos) ==
          (copy_rate < 130e9));
  }
}

TEST_CASE("two campaigns at once: each ends as it does alone") {
  auto alone = [](std::uint64_t seed) {
    TestLoop loop(toy_world(7, true));
    loop.campaign(kToyPolicy, seed);
    loop.run_to_end();
    return loop.verdicts().size();
  };
  TestLoop loop(toy_world(7, true));
  loop.campaign(kToyPolicy, 1);
  loop.campaign(kToyPolicy, 2);
  bool overlapped = false;
  loop.on_commit = [&](const State& state) {
    overlapped |= state.pending.size() >= 2 && state.nights.size() == 2;
  };
  loop.run_to_end();
  expect_sound(loop);
  CHECK(overlapped);
  CHECK(loop.state().nights.size() == 2);
  CHECK(loop.verdicts().size() == alone(1) + alone(2));
  for (const auto& [id, merge] : loop.state().merges) CHECK(merge.state == MergeState::waiting);
  for (const auto& [id, hypothesis] : loop.state().hypotheses) {
    CHECK(loop.state().nights.at(hypothesis.night).night.campaign == hypothesis.campaign);
  }
}

TEST_CASE("a scheduled campaign fires by itself when its minute comes, and not twice") {
  TestLoop loop(toy_world(1, true));
  auto nights = [&] {
    loop.run_to_end();
    return loop.state().nights.size();
  };
  auto campaign = loop.campaign(kToyPolicy, 1, "0 3 * * *", false);
  CHECK(nights() == 0);
  loop.move_clock_to(2, 59);
  CHECK(nights() == 0);
  CHECK(next_wake(loop.state(), loop.clock.now()) == loop.clock.now().plus_s(60));
  loop.clock.advance_s(75);
  CHECK(nights() == 1);
  CHECK(nights() == 1);
  loop.crash();  // a restart fires nothing twice,
  loop.start();
  CHECK(nights() == 1);
  loop.clock.advance_s(-1200);  // nor does a clock that is set back
  CHECK(nights() == 1);
  loop.clock.advance_s(1200);
  CHECK(nights() == 1);
  loop.move_clock_to(3, 0);
  CHECK(nights() == 2);
  CHECK(loop.count("\"scheduled\"") == 2);
  loop.move_clock_to(4, 0);
  loop.move_clock_to(5, 0);  // what was missed while the daemon was down is not made up for
  CHECK(nights() == 2);
  loop.give(web::SetCampaignState{campaign, CampaignState::paused, "holiday"});
  loop.move_clock_to(3, 0);
  CHECK(nights() == 2);
  expect_sound(loop);
}

TEST_CASE("a fire during a night that still runs is let pass, and told") {
  TestLoop loop(toy_world(1, true));
  loop.campaign(kToyPolicy, 1, "41 2 * * *", true);
  bool moved = false;
  loop.run([&](const State& state) {
    if (!moved && state.experiments.size() == 3) {
      loop.move_clock_to(2, 41);
      loop.shell->post(Tick{});
      moved = true;
    }
    return false;
  });
  REQUIRE(moved);
  CHECK(loop.state().nights.size() == 1);
  CHECK(loop.count("a night is still running") == 1);
  expect_sound(loop);
}

}  // namespace orchestrator

// Nights on a target that offers a timeline: it is read once, and never ends a night.
#include <catch2/catch.hpp>

#include "orchestrator/test_loop.h"

namespace orchestrator {
namespace {

using hypotheses::Verdict;

constexpr const char* kTimelineProbe = R"(  toy.trace:
    answers: timeline
    layer: engine
    covers: ["**"]
    run: "{build}/trace {batch}"
    conditions: {batch: [1, 8]}
    format: chrome-trace
    timeout: 10s
    shows: toy.time
    spans: {"toy*": ["src/**", "knob:toy.*"], lost: [lost/**]}
)";

FakeWorld traced_world(std::uint64_t seed = 1, bool exact = true) {
  FakeWorld world = tile_world(seed, exact);
  world.manifest += kTimelineProbe;
  world.timeline = hypotheses::Timeline{{{{"toy*"}, 0.25}}, 0.5, {"lost"}};
  return world;
}

// The runs of timelines, and what they cost.
std::vector<const ExperimentRecord*> timelines_of(const State& state, hypotheses::NightId night) {
  std::vector<const ExperimentRecord*> found;
  for (const auto& [id, record] : state.experiments) {
    if (record.experiment.night == night && record.experiment.probe == "toy.trace")
      found.push_back(&record);
  }
  return found;
}

std::size_t first_event(const TestLoop& loop, const std::string& kind) {
  const auto events = loop.events();
  for (std::size_t i = 0; i < events.size(); ++i)
    if (events[i].starts_with(kind + " ")) return i;
  return events.size();
}

bool same_verdicts_as_without(const TestLoop& loop) {
  TestLoop without(tile_world(1, true));
  without.campaign();
  without.run_to_end();
  return loop.verdicts() == without.verdicts();
}

}  // namespace

TEST_CASE("a night reads each timeline of its base once, before any hypothesis, and keeps it") {
  for (bool exact : {true, false}) {
    CAPTURE(exact);
    TestLoop loop(traced_world(1, exact));
    auto campaign = loop.campaign();
    loop.run_to_end();
    expect_sound(loop);
    const NightRecord& night = loop.state().nights.at({1});
    CHECK(loop.count("timeline-read") == 2);
    CHECK(first_event(loop, "timeline-read") < first_event(loop, "hypothesis-opened"));
    REQUIRE(night.shares.size() == 2);
    CHECK(to_text(night.shares[0].key) == "toy.time{batch=1}");
    CHECK(to_text(night.shares[1].key) == "toy.time{batch=8}");
    for (const auto& shares : night.shares) {
      CHECK(shares.probe == "toy.trace");
      REQUIRE(shares.stacks.size() == 1);
      CHECK(shares.stacks[0].share == 0.25);
      CHECK(shares.spans.at("lost") == std::vector<std::string>{"lost/**"});
    }
    const auto touched = policies::Touched{{"src/toy.cc"}, {}};
    CHECK(policies::share_of_change(night.shares, {"toy.time", {{"batch", "8"}}},
                                    hypotheses::Layer::engine, touched)
              .share == 0.25);
    const auto read = timelines_of(loop.state(), {1});
    REQUIRE(read.size() == 2);
    for (const auto* record : read) {
      CHECK(record->experiment.why.starts_with("timeline of the base: one run, to learn how much"));
      CHECK(record->experiment.base == night.night.base);
      CHECK(record->experiment.candidate == night.night.base);
      CHECK(record->experiment.cost_s > 0);
      CHECK(record->experiment.estimate_s > 0);
      CHECK(record->experiment.answer->verdict == Verdict::supported);
      CHECK(record->experiment.answer->reason == "toy* 25%; idle 50%; never seen: lost");
    }
    CHECK(night.learned.run.contains("toy.trace"));

    // The same base: known. Another base: read anew, and what was known of the old one is gone.
    loop.give(web::StartNight{campaign});
    loop.run_to_end();
    CHECK(loop.count("timeline-read") == 2);
    CHECK(loop.state().nights.at({2}).shares.size() == 2);
    FakeTree moved = loop.target.tree(loop.target.tip());
    moved.files["README"] = "moved\n";
    loop.target.push(moved);
    loop.give(web::StartNight{campaign});
    loop.run_to_end();
    CHECK(loop.count("timeline-read") == 4);
    CHECK(loop.state().nights.at({3}).shares.size() == 2);
    expect_sound(loop);
  }
}

TEST_CASE("a timeline that cannot be read leaves the shares unknown and the night as it would be") {
  FakeWorld world = traced_world();
  world.timeline.reset();
  TestLoop loop(world);
  loop.campaign();
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.state().nights.at({1}).shares.empty());
  CHECK(loop.count("timeline-read") == 2);
  CHECK(loop.count("no timeline could be read: bad-output: its stdout is no Chrome trace") >= 2);
  for (const auto* record : timelines_of(loop.state(), {1})) {
    CHECK(record->runs.size() <= 2);  // its own, and perhaps a build
    CHECK(record->experiment.answer->verdict == Verdict::invalid);
  }
  CHECK(same_verdicts_as_without(loop));
}

TEST_CASE("a machine that cannot run a timeline ends no night, and is not asked twice") {
  TestLoop loop(traced_world());
  loop.performer->answer = [](const Order& order) -> std::optional<Completion> {
    const auto* attempt = std::get_if<AttemptOrder>(&order.what);
    if (attempt == nullptr || attempt->experiment.probe != "toy.trace") return {};
    return EffectFailed{{base::ErrorCode::unavailable, "no sandbox", {}}};
  };
  loop.campaign();
  loop.run_to_end();
  expect_sound(loop);
  CHECK(timelines_of(loop.state(), {1}).size() == 2);
  CHECK(loop.state().nights.at({1}).shares.empty());
  CHECK(same_verdicts_as_without(loop));
}

TEST_CASE("a timeline that the budget does not pay for is not run, and that is recorded") {
  TestLoop loop(traced_world());
  loop.campaign(std::string(kToyPolicy) + "evidence: {noise_pairs: 0}\nbudget: {machine: 20s}\n");
  loop.run_to_end();
  expect_sound(loop);
  CHECK(timelines_of(loop.state(), {1}).empty());
  CHECK(loop.count("timeline-read") == 2);
  CHECK(loop.count("not run: ") == 2);
}

TEST_CASE("a restart while a timeline runs reads it once") {
  TestLoop loop(traced_world());
  loop.campaign();
  REQUIRE(loop.run([](const State& state) { return !state.experiments.empty(); }));
  loop.crash();
  loop.start();
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.count("timeline-read") == 2);
  CHECK(loop.state().nights.at({1}).shares.size() == 2);
}

}  // namespace orchestrator

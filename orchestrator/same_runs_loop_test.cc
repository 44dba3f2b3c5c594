// Guards whose metric the probe of another question emits: no run is made for them.
#include <catch2/catch.hpp>

#include "orchestrator/test_loop.h"

namespace orchestrator {
namespace {

using hypotheses::Answer;
using hypotheses::Question;
using hypotheses::Verdict;

constexpr const char* kMemory = "      toy.memory: {better: lower, unit: B}\n";

// The benchmark tells the memory as well, of which 64 takes so many times as much.
FakeWorld frugal_world(double of_64) {
  FakeWorld world = tile_world(1, false);
  world.manifest += kMemory;
  world.manifest.insert(world.manifest.find("protected:"), "guards: {toy.memory: 5%}\n");
  auto value_of = world.value;
  world.value = [value_of, of_64](const FakeTree& tree, const hypotheses::MetricKey& key) {
    if (key.metric == "toy.time") return value_of(tree, key);
    return tree.knobs.at("toy.tile") == "64" ? 1000 * of_64 : 1000;
  };
  return world;
}

const hypotheses::Hypothesis& tile_64(const State& state) {
  for (const auto& [id, hypothesis] : state.hypotheses) {
    const auto& knobs = hypothesis.change.knobs;
    if (!knobs.empty() && knobs.front().value == "64") return hypothesis;
  }
  FAIL("nobody tried 64");
  throw Crash{};
}

const Answer* memory_answer(const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    if (answer.question == Question::guards && answer.evidence &&
        to_text(answer.evidence->key) == "toy.memory{batch=1}") {
      return &answer;
    }
  }
  return nullptr;
}

int experiments_about(const State& state, const std::string& metric) {
  int count = 0;
  for (const auto& [id, record] : state.experiments) {
    count += to_text(record.experiment.key) == metric ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("a guard that the own metric's runs settle is answered by them, of a merge too") {
  TestLoop loop(frugal_world(1));
  loop.campaign();
  loop.run_to_end();
  expect_sound(loop);
  const auto& winner = tile_64(loop.state());
  CHECK(winner.verdict == Verdict::supported);
  const auto& merge = loop.merge();
  CHECK(merge.state == hypotheses::MergeState::waiting);
  for (const auto* answers : {&winner.answers, &merge.answers}) {
    const Answer* guard = memory_answer(*answers);
    REQUIRE(guard != nullptr);
    CHECK(guard->verdict == Verdict::supported);
    const auto& source = loop.state().experiments.at(guard->experiment).experiment;
    CHECK(source.question == Question::own_metric);
    CHECK(guard->reason.find(", in the runs of " + source.id.text()) != std::string::npos);
    CHECK(guard->evidence->pairs >= 6);
  }
  CHECK(experiments_about(loop.state(), "toy.memory{batch=1}") == 0);
  CHECK(experiments_about(loop.state(), "toy.memory{batch=8}") > 0);  // runs that nobody made yet
}

TEST_CASE("a guard that those runs refute ends the hypothesis, and nothing more is run") {
  TestLoop loop(frugal_world(1.3));
  loop.campaign();
  loop.run_to_end();
  expect_sound(loop);
  const auto& greedy = tile_64(loop.state());
  CHECK(greedy.verdict == Verdict::refuted);
  CHECK(greedy.reason.find("guard toy.memory{batch=1}") != std::string::npos);
  for (const auto& [id, record] : loop.state().experiments) {
    if (record.experiment.hypothesis != greedy.id) continue;
    CHECK(record.experiment.question != Question::guards);
  }
}

}  // namespace orchestrator

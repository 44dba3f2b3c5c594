// The rules of scheduler.h, one by one.
#include "serving/engine/scheduler.h"

#include <catch2/catch.hpp>
#include <random>
#include <utility>
#include <vector>

#include "serving/engine/test_driver.h"

namespace serving {
namespace {

using Shares = std::vector<std::pair<SequenceId, int>>;  // who computes how many tokens

Shares shares_of(const std::vector<PlannedChunk>& plan) {
  Shares shares;
  for (const PlannedChunk& chunk : plan) shares.emplace_back(chunk.sequence->id, chunk.count);
  return shares;
}

// Computes the planned step; whoever got logits says 7.
Shares step(Scheduler& scheduler) {
  const auto& plan = scheduler.plan();
  Shares shares = shares_of(plan);
  scheduler.operations().clear();
  scheduler.advance();
  for (const PlannedChunk& chunk : plan) {
    if (chunk.wants_logits) scheduler.append(chunk.sequence->id, 7);
  }
  return shares;
}

EngineOptions options_for(Policy policy) {
  return {.max_batch_tokens = 60, .max_running = 4, .chunk_tokens = 50, .policy = policy};
}

TEST_CASE("decoding comes first, prompts share the rest of the budget") {
  Scheduler scheduler(fake_shape(true, false), options_for(Policy::fcfs));
  scheduler.add(1, iota(0, 5, 64), 8);
  CHECK(step(scheduler) == Shares{{1, 5}});
  scheduler.add(2, iota(9, 100, 64), 8);
  CHECK(step(scheduler) == Shares{{1, 1}, {2, 50}});
  scheduler.add(3, iota(20, 100, 64), 8);
  CHECK(step(scheduler) == Shares{{1, 1}, {2, 50}, {3, 9}});
  CHECK(step(scheduler) == Shares{{1, 1}, {2, 1}, {3, 50}});
}

TEST_CASE("fcfs: the oldest prompt takes what it can") {
  Scheduler scheduler(fake_shape(true, false), options_for(Policy::fcfs));
  scheduler.add(1, iota(0, 100, 64), 8);
  scheduler.add(2, iota(9, 10, 64), 8);
  scheduler.add(3, iota(20, 30, 64), 8);
  CHECK(step(scheduler) == Shares{{1, 50}, {2, 10}});
}

TEST_CASE("fair: equal shares, and what a short prompt leaves goes to the longer ones") {
  Scheduler scheduler(fake_shape(true, false), options_for(Policy::fair));
  scheduler.add(1, iota(0, 100, 64), 8);
  scheduler.add(2, iota(9, 10, 64), 8);
  scheduler.add(3, iota(20, 90, 64), 8);
  CHECK(step(scheduler) == Shares{{2, 10}, {3, 25}, {1, 25}});
}

TEST_CASE("nobody overtakes: a small request waits behind one that finds no pages") {
  Scheduler scheduler(fake_shape(true, false, 8), options_for(Policy::fair));
  scheduler.add(1, iota(0, 70, 64), 40);  // 5 pages and one for its answer
  step(scheduler);
  scheduler.add(2, iota(9, 60, 64), 8);  // 4 pages and one for its answer
  scheduler.add(3, iota(9, 2, 64), 8);
  step(scheduler);
  CHECK(scheduler.counts().running == 1);
  CHECK(scheduler.counts().waiting == 2);
  scheduler.finish(1);
  step(scheduler);
  CHECK(scheduler.counts().running == 2);  // now they fit side by side
}

TEST_CASE("at most max_running run, and a finished one makes room in the next step") {
  Scheduler scheduler(fake_shape(true, false), options_for(Policy::fair));
  for (SequenceId id = 1; id <= 6; ++id) scheduler.add(id, iota(static_cast<int>(id), 3, 64), 4);
  CHECK(step(scheduler).size() == 4);
  scheduler.finish(2);
  CHECK(step(scheduler) == Shares{{1, 1}, {3, 1}, {4, 1}, {5, 3}});
}

TEST_CASE("where pages run out, the youngest waits again, and resumes with the same tokens") {
  const ModelShape shape = fake_shape(true, false, 6);
  Driver driver(shape, options_for(Policy::fair));
  const Job older{iota(0, 30, 64), 50}, younger{iota(40, 30, 64), 50};
  const SequenceId first = driver.add(older), second = driver.add(younger);
  while (driver.scheduler().counts().preempted == 0) driver.step();
  CHECK(driver.scheduler().sequence(first).computed > 0);
  CHECK(driver.scheduler().sequence(second).computed == 0);
  CHECK(driver.scheduler().sequence(second).pages.empty());
  driver.run();
  CHECK(driver.answer(first) == alone(shape, older));
  CHECK(driver.answer(second) == alone(shape, younger));
}

TEST_CASE("the oldest is never preempted") {
  std::mt19937 random(5);
  Driver driver(fake_shape(true, true, 7, 3), options_for(Policy::fair));
  std::vector<SequenceId> ids;
  for (int i = 0; i < 12; ++i) {
    ids.push_back(driver.add({iota(static_cast<int>(random() % 64), 20, 64), 60}));
  }
  for (const SequenceId oldest : ids) {
    int computed = 0;
    while (driver.is_under_way(oldest)) {
      driver.step();
      if (!driver.is_under_way(oldest)) break;
      CHECK(driver.scheduler().sequence(oldest).computed > computed);
      computed = driver.scheduler().sequence(oldest).computed;
    }
  }
  CHECK(driver.scheduler().counts().preempted > 0);
}

TEST_CASE("a request that can never fit is refused with the numbers") {
  ModelShape shape = fake_shape(true, false, 10);
  shape.context = 200;
  const Scheduler scheduler(shape, {});
  CHECK(scheduler.check(100, 61));  // the last token of an answer takes no room
  const Status caches = scheduler.check(100, 62);
  REQUIRE(!caches);
  CHECK(caches.error().code == ErrorCode::bad_input);
  CHECK(caches.error().message.find("room for 160") != std::string::npos);
  const Status context = scheduler.check(199, 2);
  REQUIRE(!context);
  CHECK(context.error().message.find("200") != std::string::npos);
  CHECK(!scheduler.check(0, 5));
  CHECK(!scheduler.check(5, 0));
  CHECK(!scheduler.check(std::size_t{1} << 40, 5));
}

TEST_CASE("the largest request that is accepted can be served") {
  const ModelShape shape = fake_shape(true, true, 10, 1);
  Driver driver(shape, options_for(Policy::fcfs));
  const Job job{iota(0, 100, 64), 61};
  driver.cost({iota(30, 40, 64), 8});  // leaves something in the tree
  driver.cost(job);
  CHECK(driver.last_answer() == alone(shape, job));
}

int steps_to_first_token(Policy policy) {
  Driver driver(fake_shape(true, false, 600), options_for(policy));
  for (int i = 0; i < 3; ++i) driver.add({iota(11 * i, 2000, 64), 8});
  driver.step();
  const SequenceId shorter = driver.add({iota(50, 20, 64), 8});
  int steps = 0;
  while (driver.answer(shorter).empty()) {
    driver.step();
    ++steps;
  }
  return steps;
}

TEST_CASE("fair: a short prompt does not wait for long ones") {
  CHECK(steps_to_first_token(Policy::fair) <= 2);   // its share is 15 of its 20 tokens
  CHECK(steps_to_first_token(Policy::fcfs) >= 70);  // what fair is for
}

TEST_CASE("no starvation: under fair the first token comes within a bound of steps") {
  const std::uint32_t seed = 11;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  EngineOptions options = options_for(Policy::fair);
  options.max_running = 10;
  Driver driver(fake_shape(true, true, 2000, 12), options);
  struct Waiting {
    SequenceId id;
    int added, bound;
  };
  std::vector<Waiting> waiting;
  for (int i = 0; i < 10; ++i) {
    const int prompt = 1 + static_cast<int>(random() % 900);
    // At least (60 - 10) / 10 tokens a step, and one shorter chunk for each checkpoint.
    const int bound = prompt / 5 + 2 + prompt / (32 * 16) + 1;
    const SequenceId id = driver.add({iota(static_cast<int>(random() % 64), prompt, 64), 100});
    waiting.push_back({id, driver.steps(), bound});
    driver.step();
  }
  while (!driver.scheduler().idle()) {
    driver.step();
    for (const Waiting& one : waiting) {
      if (driver.answer(one.id).empty()) CHECK(driver.steps() - one.added <= one.bound);
    }
  }
}

}  // namespace
}  // namespace serving

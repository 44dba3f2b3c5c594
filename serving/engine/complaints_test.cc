// What users of neighbouring engines complain about, each as a test of ours.
#include <catch2/catch.hpp>
#include <vector>

#include "serving/engine/test_driver.h"

namespace serving {
namespace {

EngineOptions usual() { return {.max_batch_tokens = 256, .max_running = 4, .chunk_tokens = 256}; }

TEST_CASE("prefix cache on hybrid models: a repeated prompt of 4096 tokens computes one token") {
  for (const bool has_pages : {true, false}) {
    const ModelShape shape = fake_shape(has_pages, true, 600, 16);
    Driver driver(shape, usual());
    const Job job{iota(3, 4096, 61), 4};
    CHECK(driver.cost(job) == 4096 + 3);  // the last token of an answer is not fed back
    CHECK(driver.cost(job) == 1 + 3);
    CHECK(driver.last_answer() == alone(shape, job));
  }
}

TEST_CASE(
    "prefix cache on hybrid models: a prompt that differs late resumes from a checkpoint near") {
  const ModelShape shape = fake_shape(true, true, 1200, 16);
  Driver driver(shape, usual());
  Job job{iota(3, 4096, 61), 4};
  driver.cost(job);
  job.prompt[4000] = 63;
  const int every = 32 * shape.page_tokens;
  CHECK(driver.cost(job) == 4096 - 4000 / every * every + 3);
  CHECK(driver.last_answer() == alone(shape, job));
}

TEST_CASE("prefix cache on hybrid models: the next turn of a conversation computes what is new") {
  const ModelShape shape = fake_shape(true, true, 200, 8);
  Driver driver(shape, usual());
  Job job{iota(3, 1000, 61), 30};
  driver.cost(job);
  const std::vector<Token> answer = driver.last_answer();
  job.prompt.insert(job.prompt.end(), answer.begin(), answer.end());
  job.prompt.push_back(5);
  CHECK(driver.cost(job) == 1 + 1 + 29);  // the answer's last token, the new one, and its answer
  CHECK(driver.last_answer() == alone(shape, job));
}

TEST_CASE("prompts below one block hit, too, when they come again") {
  for (const bool has_pages : {true, false}) {
    for (const bool has_state : {true, false}) {
      if (!has_pages && !has_state) continue;
      const ModelShape shape = fake_shape(has_pages, has_state);
      Driver driver(shape, usual());
      const Job job{iota(3, 11, 64), 3};
      CHECK(driver.cost(job) == 11 + 2);
      CHECK(driver.cost(job) == 1 + 2);
      CHECK(driver.last_answer() == alone(shape, job));
    }
  }
}

TEST_CASE("a state slot is reset before use, whatever it held") {
  const ModelShape shape = fake_shape(false, true, 0, 2);
  EngineOptions options = usual();
  options.prefix_cache = false;
  Driver driver(shape, options);
  for (int i = 0; i < 6; ++i) {
    driver.model().poison_slot(0);
    driver.model().poison_slot(1);
    const Job job{iota(i, 20, 64), 5};
    driver.cost(job);
    CHECK(driver.last_answer() == alone(shape, job));
  }
}

TEST_CASE("a full hit leaves the last token to compute") {
  for (const int length : {1, 15, 16, 17, 32, 33}) {  // around the borders of pages
    for (const bool has_state : {true, false}) {
      const ModelShape shape = fake_shape(true, has_state);
      Driver driver(shape, usual());
      const Job job{iota(3, length, 64), 1};
      CHECK(driver.cost(job) == length);
      CHECK(driver.cost(job) == 1);
      CHECK(driver.last_answer() == alone(shape, job));
      CHECK(driver.cached_tokens == static_cast<std::uint64_t>(length - 1));
    }
  }
}

TEST_CASE("preemption does not count a token of the prompt twice") {
  const ModelShape shape = fake_shape(true, true, 6, 2);
  Driver driver(shape, {.max_batch_tokens = 64, .max_running = 2, .chunk_tokens = 64});
  driver.add({iota(0, 30, 64), 60});
  driver.add({iota(40, 30, 64), 60});
  driver.run();
  const Scheduler::Counts counts = driver.scheduler().counts();
  CHECK(counts.preempted > 0);
  CHECK(driver.prompt_tokens == 60);
  CHECK(driver.cached_tokens == 0);
  CHECK(driver.fed_back == 2 * 59);
  CHECK(counts.computed_tokens == 60 + 2 * 59 + counts.recomputed_tokens);
}

TEST_CASE("a snapshot of the state is ordered with compute") {
  // The prompt's state is copied between the forward that ends before the last token and the next
  // one, which advances the slot. The copy serves a second request while the first still decodes.
  const ModelShape shape = fake_shape(true, true, 64, 4);
  Driver driver(shape, usual());
  const Job job{iota(3, 100, 64), 40};
  const SequenceId first = driver.add(job);
  while (driver.answer(first).size() < 5) driver.step();
  const SequenceId second = driver.add(job);
  driver.run();
  CHECK(driver.cached_tokens == 99);
  CHECK(driver.answer(first) == alone(shape, job));
  CHECK(driver.answer(second) == alone(shape, job));
}

TEST_CASE("requests that begin alike share pages while they run") {
  const ModelShape shape = fake_shape(true, false, 64);
  Driver driver(shape, usual());
  Job job{iota(3, 320, 64), 100};
  driver.add(job);
  while (driver.scheduler().cache().pages().used() < 20) driver.step();
  const int used = driver.scheduler().cache().pages().used();
  job.prompt.back() = 1;
  driver.add(job);
  driver.step();
  CHECK(driver.scheduler().cache().pages().used() <= used + 2);
  driver.run();
}

}  // namespace
}  // namespace serving

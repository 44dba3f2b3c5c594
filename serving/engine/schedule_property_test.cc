// Random workloads on small caches: whatever the schedule, each answer is what the model says to
// that request alone, and at the end every page, slot and token is accounted for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "serving/engine/test_driver.h"

namespace serving {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  int in(int least, int most) {  // both included; the same on every machine, unlike std's
    return least + static_cast<int>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool one_in(int n) { return in(1, n) == 1; }
  std::vector<Token> tokens(int count, int vocabulary) {
    std::vector<Token> tokens;
    for (int i = 0; i < count; ++i) tokens.push_back(in(0, vocabulary - 1));
    return tokens;
  }
  std::uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

ModelShape random_shape(Draw& draw) {
  const int form = draw.in(0, 2);  // attention, recurrent, hybrid
  return {.vocabulary = draw.one_in(3) ? 3 : 40,
          .context = 400,
          .page_tokens = draw.in(1, 9),
          .has_pages = form != 1,
          .has_state = form != 0,
          .pages = 0,
          .slots = draw.in(1, 9)};
}

EngineOptions random_options(Draw& draw) {
  EngineOptions options;
  options.max_running = draw.in(1, 6);
  options.max_batch_tokens = options.max_running + draw.in(0, 40);
  options.chunk_tokens = draw.in(1, 30);
  options.policy = draw.one_in(2) ? Policy::fcfs : Policy::fair;
  options.prefix_cache = !draw.one_in(5);
  options.checkpoint_every_pages = draw.in(0, 4);
  return options;
}

// Prompts that share beginnings, repeat, and go on from earlier answers.
std::vector<Job> random_jobs(Draw& draw, const ModelShape& shape) {
  const bool talks = draw.one_in(2);  // short prompts and long answers, or the other way round
  std::vector<Job> jobs;
  for (int count = draw.in(2, 14); std::ssize(jobs) < count;) {
    Job job;
    if (!jobs.empty() && draw.one_in(2)) {
      const Job& earlier = jobs[static_cast<std::size_t>(draw.in(0, std::ssize(jobs) - 1))];
      job.prompt = earlier.prompt;
      if (draw.one_in(3)) {  // the next turn of a conversation
        for (const Token token : alone(shape, earlier)) job.prompt.push_back(token);
      } else if (draw.one_in(2)) {
        job.prompt.resize(static_cast<std::size_t>(draw.in(1, std::ssize(job.prompt))));
      }
    }
    const bool repeats = !job.prompt.empty() && draw.one_in(3);
    if (!repeats) {
      for (const Token token : draw.tokens(draw.in(1, talks ? 8 : 40), shape.vocabulary)) {
        job.prompt.push_back(token);
      }
    }
    if (job.prompt.size() > 120) job.prompt.resize(120);
    job.max_tokens = draw.in(1, talks ? 60 : 12);
    if (draw.one_in(2)) job.sampling = {.temperature = 1, .top_k = 8, .seed = draw.bits()};
    jobs.push_back(job);
  }
  return jobs;
}

// Enough for the largest request alone, and not for much more.
int few_pages(Draw& draw, const ModelShape& shape, const std::vector<Job>& jobs) {
  int most = 0;
  for (const Job& job : jobs) {
    most = std::max(most, static_cast<int>(job.prompt.size()) + job.max_tokens - 1);
  }
  const int least = (most + shape.page_tokens - 1) / shape.page_tokens;
  return draw.in(least, draw.one_in(3) ? 4 * least : least + 3);
}

void check_accounts(const Driver& driver) {
  const Scheduler::Counts counts = driver.scheduler().counts();
  CHECK(driver.prompt_tokens - driver.cached_tokens + driver.fed_back + counts.recomputed_tokens ==
        counts.computed_tokens);
  const SequenceCache& cache = driver.scheduler().cache();
  CHECK(cache.pages().used() == 0);
  CHECK(cache.slots().free() + cache.tree().checkpoints() == cache.slots().size());
  if (cache.tree().nodes() == 0) CHECK(cache.pages().free() == cache.pages().size());
}

struct Totals {
  std::uint64_t preempted = 0, cached = 0, recomputed = 0;
};

void run_workload(std::uint64_t seed, Totals& totals) {
  Draw draw(seed);
  ModelShape shape = random_shape(draw);
  const EngineOptions options = random_options(draw);
  const std::vector<Job> jobs = random_jobs(draw, shape);
  shape.pages = few_pages(draw, shape, jobs);
  INFO("seed " << seed << ": pages " << shape.pages << " of " << shape.page_tokens << ", slots "
               << shape.slots << ", has_pages " << shape.has_pages << ", has_state "
               << shape.has_state << ", max_running " << options.max_running);

  Driver driver(shape, options);
  std::vector<SequenceId> ids;
  std::vector<bool> cancelled(jobs.size(), false);
  while (ids.size() < jobs.size() || !driver.scheduler().idle()) {
    while (ids.size() < jobs.size() && draw.one_in(3)) ids.push_back(driver.add(jobs[ids.size()]));
    if (!ids.empty() && draw.one_in(30)) {
      const auto victim = static_cast<std::size_t>(draw.in(0, std::ssize(ids) - 1));
      if (driver.is_under_way(ids[victim])) {
        driver.cancel(ids[victim]);
        cancelled[victim] = true;
      }
    }
    if (!driver.scheduler().idle()) CHECK(driver.step() > 0);
    REQUIRE(driver.steps() < 20000);
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::vector<Token> expected = alone(shape, jobs[i]);
    if (cancelled[i]) expected.resize(driver.answer(ids[i]).size());
    CHECK(driver.answer(ids[i]) == expected);
  }
  check_accounts(driver);
  totals.preempted += driver.scheduler().counts().preempted;
  totals.recomputed += driver.scheduler().counts().recomputed_tokens;
  totals.cached += driver.cached_tokens;
}

TEST_CASE("random schedules give the answers of requests served alone") {
  Totals totals;
  for (std::uint64_t seed = 1; seed <= 1200; ++seed) run_workload(seed, totals);
  WARN("1200 workloads, seeds from 1: " << totals.preempted << " preemptions, " << totals.recomputed
                                        << " tokens recomputed, " << totals.cached << " cached");
  // Otherwise the workloads would not reach what they are for.
  CHECK(totals.preempted > 400);
  CHECK(totals.recomputed > 5000);
  CHECK(totals.cached > 15000);
}

}  // namespace
}  // namespace serving

// The engine over real models: the reference models' golden tokens, and self-made ones of random
// shapes, whatever the batch, the chunks, the caches and the preemptions.
#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "serving/engine/make_engine.h"
#include "serving/engine/test_answers.h"
#include "serving/model/load_model.h"
#include "serving/model/test_golden.h"
#include "serving/model/test_run.h"

namespace serving {
namespace {

struct Scenario {
  const char* name;
  EngineOptions options;
  int pages, slots, copies;  // of each prompt
};

const Scenario kScenarios[] = {
    {"one at a time", {.max_running = 1, .prefix_cache = false}, 12, 1, 1},
    {"sixteen mixed", {.max_running = 16, .prefix_cache = false}, 128, 16, 6},
    {"small chunks", {.max_batch_tokens = 16, .max_running = 4, .chunk_tokens = 3}, 64, 8, 2},
    {"prefix hits", {.max_running = 1, .checkpoint_every_pages = 1}, 64, 8, 3},
    {"preempted", {.max_running = 8, .checkpoint_every_pages = 1}, 10, 8, 3},
};

TEST_CASE("the golden tokens come through the engine in every way") {
  const std::string name = GENERATE("stories260K", "kimi-tiny");
  const auto expected = model::golden(name);
  if (!expected) return;
  for (const Scenario& scenario : kScenarios) {
    INFO(name << ", " << scenario.name);
    LoadOptions load;
    load.threads = 1;
    load.pages = scenario.pages;
    load.slots = scenario.slots;
    auto loaded = load_model(expected->model, load);
    REQUIRE(loaded);
    const auto engine = make_engine(std::move(loaded->model), scenario.options);
    std::vector<std::unique_ptr<Answer>> answers;
    for (int copy = 0; copy < scenario.copies; ++copy) {
      for (const model::GoldenCase& golden : expected->cases) {
        const int tokens = static_cast<int>(golden.steps.size());
        answers.push_back(submit_to(*engine, request_of({golden.tokens, tokens})));
      }
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const model::GoldenCase& golden = expected->cases[i % expected->cases.size()];
      std::vector<Token> tokens;
      for (const model::GoldenStep& step : golden.steps) tokens.push_back(step.greedy);
      CHECK(read(*answers[i]).tokens == tokens);
    }
    const EngineStats stats = engine->stats();
    const std::string way = scenario.name;
    CHECK((stats.preempted > 0) == (way == "preempted"));
    if (way == "prefix hits") CHECK(stats.cached_tokens > stats.prompt_tokens / 2);
  }
}

// Half of them begin like an earlier one.
std::vector<Job> random_jobs_for(const ModelShape& shape, std::mt19937& random) {
  std::vector<Job> jobs;
  while (jobs.size() < 10) {
    Job job;
    if (!jobs.empty() && random() % 2 == 0) job.prompt = jobs[random() % jobs.size()].prompt;
    const int more = static_cast<int>(random() % 40) + (job.prompt.empty() ? 1 : 0);
    for (const Token token : model::random_tokens(more, shape.vocabulary, random)) {
      job.prompt.push_back(token);
    }
    if (job.prompt.size() > 90) job.prompt.resize(90);
    job.max_tokens = 20 + static_cast<int>(random() % 60);
    if (random() % 2 == 0) job.sampling = {.temperature = 1, .top_p = 0.9F, .seed = random()};
    jobs.push_back(job);
  }
  return jobs;
}

TEST_CASE("models of random shapes say through the engine what they say alone") {
  const std::string architecture = GENERATE("llama", "kimi-linear");
  std::uint64_t preempted = 0, cached = 0;
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    INFO(architecture << ", seed " << seed);
    std::mt19937 random(seed);
    const model::MadeModel made(model::random_spec(architecture, random));
    model::DecoderOptions options;
    options.cache = {.type = model::CacheType::f32, .pages = 12, .page_tokens = 16, .slots = 6};
    const auto alone = model::make_decoder(made, options);
    const auto engine = make_engine(model::make_decoder(made, options),
                                    {.max_batch_tokens = 30,
                                     .max_running = 5,
                                     .chunk_tokens = 1 + static_cast<int>(random() % 24),
                                     .policy = seed % 2 == 0 ? Policy::fair : Policy::fcfs,
                                     .checkpoint_every_pages = 1});
    const std::vector<Job> jobs = random_jobs_for(engine->shape(), random);
    std::vector<std::unique_ptr<Answer>> answers;
    for (const Job& job : jobs) answers.push_back(submit_to(*engine, request_of(job)));
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      CHECK(read(*answers[i]).tokens == alone_on(*alone, jobs[i]));
    }
    preempted += engine->stats().preempted;
    cached += engine->stats().cached_tokens;
  }
  CHECK(preempted > 0);
  CHECK(cached > 0);
}

}  // namespace
}  // namespace serving

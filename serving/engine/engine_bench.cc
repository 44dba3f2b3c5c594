// What the engine adds to the model: time between forwards, and its parts alone. JSON lines on
// stdout; each figure is the median over the steps or repetitions of one run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "serving/core/clock.h"
#include "serving/engine/make_engine.h"
#include "serving/engine/sampler.h"
#include "serving/engine/scheduler.h"
#include "serving/trace/trace.h"

namespace serving {
namespace {

struct Setting {
  int batch = 16, vocabulary = 32000, steps = 500;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

void print(const std::string& metric, double value, const std::string& unit,
           const std::string& conditions) {
  std::printf("{\"metric\": \"%s\", \"value\": %.4g, \"unit\": \"%s\", \"conditions\": {%s}}\n",
              metric.c_str(), value, unit.c_str(), conditions.c_str());
}

std::string condition(const std::string& name, int value) {
  return "\"" + name + "\": " + std::to_string(value);
}

// Median nanoseconds of one call, over `repetitions` of `calls` each.
double time_ns(int repetitions, int calls, const std::function<void()>& call) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const std::int64_t begin = now_ns();
    for (int k = 0; k < calls; ++k) call();
    times.push_back(static_cast<double>(now_ns() - begin) / calls);
  }
  return median(std::move(times));
}

std::vector<float> spread_logits(int vocabulary) {
  std::vector<float> logits;
  for (int i = 0; i < vocabulary; ++i) {
    logits.push_back(static_cast<float>(12 * uniform(1, static_cast<std::uint64_t>(i))));
  }
  return logits;
}

// Computes nothing, says the same each time, and notes how long it was not asked.
class IdleModel final : public Model {
 public:
  IdleModel(const ModelShape& shape, std::vector<double>& gaps_us)
      : shape_(shape), row_(spread_logits(shape.vocabulary)), gaps_us_(gaps_us) {}

  const ModelShape& shape() const override { return shape_; }
  void forward(std::span<const Chunk> chunks, std::vector<float>& logits) override {
    if (end_ns_ > 0) gaps_us_.push_back(static_cast<double>(now_ns() - end_ns_) / 1e3);
    logits.clear();
    for (const Chunk& chunk : chunks) {
      if (chunk.wants_logits) logits.insert(logits.end(), row_.begin(), row_.end());
    }
    end_ns_ = now_ns();
  }
  void reset_slot(SlotId) override {}
  void copy_slot(SlotId, SlotId) override {}
  void copy_page(PageId, PageId) override {}

 private:
  const ModelShape shape_;
  const std::vector<float> row_;
  std::vector<double>& gaps_us_;
  std::int64_t end_ns_ = 0;
};

ModelShape shape_of(const Setting& setting) {
  return {.vocabulary = setting.vocabulary,
          .context = 1 << 20,
          .page_tokens = 16,
          .has_pages = true,
          .has_state = true,
          .pages = 1 << 14,
          .slots = 4 * setting.batch};
}

EngineOptions options_of(const Setting& setting) {
  EngineOptions options;
  options.max_running = setting.batch;
  options.max_batch_tokens = std::max(options.max_batch_tokens, setting.batch);
  return options;
}

std::vector<Token> prompt_of(int length, int seed, int vocabulary) {
  std::vector<Token> prompt;
  for (int i = 0; i < length; ++i) {
    const double draw = uniform(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(i));
    prompt.push_back(static_cast<Token>(draw * vocabulary));
  }
  return prompt;
}

// From the end of one forward to the beginning of the next: planning, sampling, delivering.
void bench_steps(const Setting& setting, const Sampling& sampling, const std::string& metric) {
  std::vector<double> gaps_us;
  {
    const auto engine =
        make_engine(std::make_unique<IdleModel>(shape_of(setting), gaps_us), options_of(setting));
    std::vector<std::unique_ptr<Answer>> answers;
    for (int i = 0; i < setting.batch; ++i) {
      Request request;
      request.prompt = prompt_of(64, i, setting.vocabulary);
      request.sampling = sampling;
      request.max_tokens = setting.steps;
      auto answer = engine->submit(std::move(request));
      if (answer) answers.push_back(std::move(*answer));
    }
    for (const auto& answer : answers) {
      while (const auto step = answer->next(std::chrono::seconds(10))) {
        if (step->finish != Finish::none) break;
      }
    }
  }
  print(metric, median(std::move(gaps_us)), "us", condition("batch", setting.batch));
}

void bench_scheduler(const Setting& setting) {
  Scheduler scheduler(shape_of(setting), options_of(setting));
  SequenceId id = 0;
  for (int i = 0; i < setting.batch; ++i) {
    scheduler.add(++id, prompt_of(64, i, setting.vocabulary), 1 << 12);
  }
  const auto step = [&] {
    const auto& plan = scheduler.plan();
    scheduler.operations().clear();
    scheduler.advance();
    for (const PlannedChunk& chunk : plan) {
      if (chunk.wants_logits) scheduler.append(chunk.sequence->id, 7);
    }
  };
  for (int i = 0; i < 64; ++i) step();  // past the prompts
  const double ns = time_ns(20, 100, step);
  print("engine.schedule", ns / 1e3, "us", condition("batch", setting.batch));
}

void bench_prefix(const Setting& setting) {
  Scheduler scheduler(shape_of(setting), options_of(setting));
  SequenceId id = 0;
  const std::vector<Token> prompt = prompt_of(4096, 1, setting.vocabulary);
  const auto serve = [&] {
    scheduler.add(++id, prompt, 1);
    while (scheduler.sequence(id).remaining() > 0) {
      scheduler.plan();
      scheduler.operations().clear();
      scheduler.advance();
    }
    scheduler.finish(id);
  };
  serve();
  print("engine.prefix_hit", time_ns(20, 20, serve) / 1e3, "us", condition("tokens", 4096));
}

void bench_sampler(const Setting& setting) {
  const std::vector<float> logits = spread_logits(setting.vocabulary);
  const std::pair<const char*, Sampling> kinds[] = {
      {"greedy", {.temperature = 0}},
      {"temperature", {.temperature = 1, .seed = 1}},
      {"top_p", {.temperature = 1, .top_p = 0.9F, .seed = 1}},
      {"top_k", {.temperature = 1, .top_k = 40, .seed = 1}},
      {"logprobs", {.temperature = 0, .top_logprobs = 8}},
  };
  Sampler sampler;
  for (const auto& [name, sampling] : kinds) {
    std::uint64_t index = 0;
    const double ns = time_ns(20, 5, [&] { sampler.choose(logits, sampling, index++); });
    print(
        "engine.sample", ns / 1e3, "us",
        std::string("\"kind\": \"") + name + "\", " + condition("vocabulary", setting.vocabulary));
  }
}

void bench_trace() {
  const auto span = [] { TraceSpan span("bench", {"layer", 1}, {"batch", 2}); };
  print("trace.span", time_ns(20, 10000, span), "ns", condition("on", 0));
  if (!start_trace({.spans_per_lane = std::size_t{1} << 19})) return;
  print("trace.span", time_ns(20, 10000, span), "ns", condition("on", 1));
  std::ostringstream out;
  if (!stop_trace(out)) std::fputs("the trace could not be written\n", stderr);
}

int run(int argc, char** argv) {
  Setting setting;
  CLI::App app("What the engine adds to the model; JSON lines");
  app.add_option("--batch", setting.batch, "requests that decode at once")
      ->check(CLI::Range(1, 4096));
  app.add_option("--vocabulary", setting.vocabulary, "tokens")->check(CLI::Range(2, 1 << 20));
  app.add_option("--steps", setting.steps, "tokens of each answer")->check(CLI::Range(2, 100000));
  CLI11_PARSE(app, argc, argv);
  bench_scheduler(setting);
  bench_prefix(setting);
  bench_steps(setting, {.temperature = 0}, "engine.step_overhead");
  bench_steps(setting, {.temperature = 1, .top_p = 0.9F}, "engine.step_overhead_top_p");
  bench_sampler(setting);
  bench_trace();
  return 0;
}

}  // namespace
}  // namespace serving

int main(int argc, char** argv) { return serving::run(argc, argv); }

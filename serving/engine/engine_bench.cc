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
#include "serving/model/load_model.h"
#include "serving/trace/trace.h"

namespace serving {
namespace {

struct Setting {
  int batch = 16, vocabulary = 32000, steps = 500;
  std::string model;
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

// Normal with a deviation of 4: 90% of the probability is in about a hundred of 32,000 tokens.
std::vector<float> spread_logits(int vocabulary) {
  std::vector<float> logits;
  for (int i = 0; i < vocabulary; ++i) {
    double sum = -6;  // twelve uniform numbers have the variance 1
    for (int k = 0; k < 12; ++k) sum += uniform(1, static_cast<std::uint64_t>(12 * i + k));
    logits.push_back(static_cast<float>(4 * sum));
  }
  return logits;
}

// Computes nothing, and says the same each time.
class IdleModel final : public Model {
 public:
  explicit IdleModel(const ModelShape& shape)
      : shape_(shape), row_(spread_logits(shape.vocabulary)) {}

  const ModelShape& shape() const override { return shape_; }
  void forward(std::span<const Chunk> chunks, std::vector<float>& logits) override {
    logits.clear();
    for (const Chunk& chunk : chunks) {
      if (chunk.wants_logits) logits.insert(logits.end(), row_.begin(), row_.end());
    }
  }
  void reset_slot(SlotId) override {}
  void copy_slot(SlotId, SlotId) override {}
  void copy_page(PageId, PageId) override {}

 private:
  const ModelShape shape_;
  const std::vector<float> row_;
};

struct Times {
  std::vector<double> forwards_us, gaps_us;  // a gap: from the end of a forward to the next one
};

// Another model, timed.
class TimedModel final : public Model {
 public:
  TimedModel(std::unique_ptr<Model> model, Times& times)
      : model_(std::move(model)), times_(times) {}

  const ModelShape& shape() const override { return model_->shape(); }
  void forward(std::span<const Chunk> chunks, std::vector<float>& logits) override {
    const std::int64_t begin_ns = now_ns();
    if (end_ns_ > 0) times_.gaps_us.push_back(static_cast<double>(begin_ns - end_ns_) / 1e3);
    model_->forward(chunks, logits);
    end_ns_ = now_ns();
    times_.forwards_us.push_back(static_cast<double>(end_ns_ - begin_ns) / 1e3);
  }
  void reset_slot(SlotId slot) override { model_->reset_slot(slot); }
  void copy_slot(SlotId from, SlotId to) override { model_->copy_slot(from, to); }
  void copy_page(PageId from, PageId to) override { model_->copy_page(from, to); }

 private:
  const std::unique_ptr<Model> model_;
  Times& times_;
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

// A batch that decodes together, its answers read by this thread. The engine has ended on return.
void decode(std::unique_ptr<Model> model, const Setting& setting, const Sampling& sampling,
            Times& times) {
  const int vocabulary = model->shape().vocabulary;
  const auto engine =
      make_engine(std::make_unique<TimedModel>(std::move(model), times), options_of(setting));
  std::vector<std::unique_ptr<Answer>> answers;
  for (int i = 0; i < setting.batch; ++i) {
    Request request;
    request.prompt = prompt_of(64, i, vocabulary);
    request.sampling = sampling;
    request.max_tokens = setting.steps;
    auto answer = engine->submit(std::move(request));
    if (!answer) std::fprintf(stderr, "engine_bench: %s\n", answer.error().message.c_str());
    if (answer) answers.push_back(std::move(*answer));
  }
  for (const auto& answer : answers) {
    while (const auto step = answer->next(std::chrono::minutes(1))) {
      if (step->finish != Finish::none) break;
    }
  }
}

// Between the forwards of a decoding batch: planning, sampling, delivering.
void bench_steps(const Setting& setting, const Sampling& sampling, const std::string& kind) {
  Times times;
  decode(std::make_unique<IdleModel>(shape_of(setting)), setting, sampling, times);
  print("engine.step_overhead", median(std::move(times.gaps_us)), "us",
        condition("batch", setting.batch) + ", \"kind\": \"" + kind + "\"");
}

// The same as a share of the steps of a real model.
int bench_model(const Setting& setting) {
  LoadOptions load;
  load.pages = setting.batch * ((64 + setting.steps) / load.page_tokens + 2);
  load.slots = 4 * setting.batch;
  load.most_batch_tokens = options_of(setting).max_batch_tokens;
  load.most_chunks = setting.batch;
  auto loaded = load_model(setting.model, load);
  if (!loaded) {
    std::fprintf(stderr, "engine_bench: %s\n", loaded.error().message.c_str());
    return 2;
  }
  Times times;
  decode(std::move(loaded->model), setting, {.temperature = 1, .top_p = 0.9F}, times);
  const double gap_us = median(std::move(times.gaps_us));
  const double forward_us = median(std::move(times.forwards_us));
  const std::string conditions = condition("batch", setting.batch);
  print("engine.forward", forward_us, "us", conditions);
  print("engine.gap", gap_us, "us", conditions);
  print("engine.overhead", gap_us / (gap_us + forward_us), "1", conditions);
  return 0;
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
  app.add_option("--model", setting.model,
                 "a GGUF file: the share of its steps that the engine adds");
  CLI11_PARSE(app, argc, argv);
  if (!setting.model.empty()) return bench_model(setting);
  bench_scheduler(setting);
  bench_prefix(setting);
  bench_steps(setting, {.temperature = 0}, "greedy");
  bench_steps(setting, {.temperature = 1, .top_p = 0.9F}, "top_p");
  bench_sampler(setting);
  bench_trace();
  return 0;
}

}  // namespace
}  // namespace serving

int main(int argc, char** argv) { return serving::run(argc, argv); }

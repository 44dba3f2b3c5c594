// How the engine serves a stated workload with a given launch configuration:
//
//   serve_probe bench     JSON lines: throughput, waiting, own time of each span per 1,000 tokens
//   serve_probe check     the tokens are those of one request at a time, nothing cached
//   serve_probe timeline  one traced run, as Chrome trace events
//
// Exit status: 0 ran (and passed), 1 failed its check, 2 could not run or was called wrongly.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "serving/model/make_model.h"
#include "serving/probe/spans.h"
#include "serving/probe/workload.h"
#include "serving/trace/trace.h"

namespace serving::probe {
namespace {

constexpr int kPassed = 0, kFailed = 1, kCouldNotRun = 2;

struct Setting {
  model::ModelSpec spec;
  std::string scratch = ".";
  Launch launch;
  Workload workload;
};

void add_options(CLI::App& app, Setting& s) {
  app.add_option("--scratch", s.scratch, "folder for the model's file")
      ->check(CLI::ExistingDirectory);
  app.add_option("--arch", s.spec.architecture, "llama or kimi-linear");
  app.add_option("--dim", s.spec.dim, "width of the model");
  app.add_option("--layers", s.spec.layers, "layers");
  app.add_option("--heads", s.spec.heads, "heads of attention");
  app.add_option("--kv-heads", s.spec.kv_heads, "heads of keys and values");
  app.add_option("--ffn", s.spec.ffn, "width of the feed-forward layers");
  app.add_option("--vocab", s.spec.vocabulary, "tokens");
  const std::map<std::string, gguf::TensorType> types = {{"f32", gguf::TensorType::f32},
                                                         {"f16", gguf::TensorType::f16},
                                                         {"bf16", gguf::TensorType::bf16},
                                                         {"q8_0", gguf::TensorType::q8_0}};
  app.add_option("--type", s.spec.type, "f32, f16, bf16 or q8_0")
      ->transform(CLI::CheckedTransformer(types));
  app.add_option("--requests", s.workload.requests, "requests in all")
      ->check(CLI::Range(1, 100000));
  app.add_option("--in-flight", s.workload.in_flight, "requests at a time")
      ->check(CLI::Range(1, 512));
  app.add_option("--shared", s.workload.shared_tokens, "tokens that all prompts begin with");
  app.add_option("--prompt", s.workload.prompt_tokens, "tokens of its own in each prompt")
      ->check(CLI::Range(1, 100000));
  app.add_option("--answer", s.workload.answer_tokens, "tokens of each answer")
      ->check(CLI::Range(1, 100000));
  app.add_option("--seed", s.workload.seed, "of the prompts");
  EngineOptions& engine = s.launch.engine;
  app.add_option("--threads", s.launch.load.threads, "0: as many as there are processors");
  app.add_option("--page-tokens", s.launch.load.page_tokens, "positions a page");
  const std::map<std::string, model::CacheType> caches = {
      {"f32", model::CacheType::f32}, {"f16", model::CacheType::f16}, {"i8", model::CacheType::i8}};
  app.add_option("--cache-type", s.launch.load.cache_type, "f32, f16 or i8")
      ->transform(CLI::CheckedTransformer(caches));
  app.add_option("--max-running", engine.max_running, "requests in a batch");
  app.add_option("--max-batch-tokens", engine.max_batch_tokens, "tokens a step");
  app.add_option("--chunk-tokens", engine.chunk_tokens, "of one prompt in a step");
  const std::map<std::string, Policy> policies = {{"fcfs", Policy::fcfs}, {"fair", Policy::fair}};
  app.add_option("--policy", engine.policy, "fcfs or fair")
      ->transform(CLI::CheckedTransformer(policies));
  app.add_option("--prefix-cache", engine.prefix_cache, "keep prefixes: 1 or 0");
  app.add_option("--checkpoint-every-pages", engine.checkpoint_every_pages, "of recurrent states");
}

// Caches for the workload, whatever the launch configuration is.
void size_caches(Setting& s) {
  const Workload& w = s.workload;
  const int tokens = w.shared_tokens + w.prompt_tokens + w.answer_tokens;
  const int page = std::max(1, s.launch.load.page_tokens);
  s.launch.load.pages = (tokens / page + 2) * (w.requests + w.in_flight + 1);
  s.launch.load.slots = 4 * w.in_flight + 8;
  s.launch.load.most_batch_tokens = s.launch.engine.max_batch_tokens;
  s.launch.load.most_chunks = std::max(1, s.launch.engine.max_running);
  s.spec.context = tokens + 1;
}

std::string model_file(const Setting& s) {
  return (std::filesystem::path(s.scratch) / "probe-model.gguf").string();
}

void print(const std::string& metric, double value, const std::string& unit,
           nlohmann::json conditions) {
  const nlohmann::json line = {
      {"metric", metric}, {"value", value}, {"unit", unit}, {"conditions", std::move(conditions)}};
  std::cout << line.dump() << "\n";
}

double percentile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(share * last + 0.5)];
}

int could_not(const Error& error) {
  std::cerr << "serve_probe: " << error.message << std::endl;
  return kCouldNotRun;
}

int bench(const Setting& s) {
  if (auto on = start_trace(); !on) return could_not(on.error());
  auto outcome = serve(model_file(s), s.launch, s.workload);
  std::ostringstream trace;
  if (auto off = stop_trace(trace); !off) return could_not(off.error());
  if (!outcome) return could_not(outcome.error());
  auto own_ms = own_time_ms(trace.str());
  if (!own_ms) return could_not(own_ms.error());
  const double tokens = s.workload.requests * static_cast<double>(s.workload.answer_tokens);
  const std::string in_flight = std::to_string(s.workload.in_flight);
  print("serve.tokens_per_s", tokens / outcome->wall_s, "1/s", {{"in_flight", in_flight}});
  print("serve.ttft_p50", percentile(outcome->first_token_ms, 0.5), "ms",
        {{"in_flight", in_flight}});
  print("serve.ttft_p99", percentile(outcome->first_token_ms, 0.99), "ms",
        {{"in_flight", in_flight}});
  print("serve.steps", static_cast<double>(outcome->stats.steps), "1", {{"in_flight", in_flight}});
  for (const auto& [name, ms] : *own_ms) {
    print("serve.span", ms / tokens * 1e3, "ms", {{"in_flight", in_flight}, {"span", name}});
  }
  return kPassed;
}

int timeline(const Setting& s) {
  if (auto on = start_trace(); !on) return could_not(on.error());
  auto outcome = serve(model_file(s), s.launch, s.workload);
  if (auto off = stop_trace(std::cout); !off) return could_not(off.error());
  return outcome ? kPassed : could_not(outcome.error());
}

// The oracle is the same model, asked for one answer at a time without any cache of prefixes:
// batching, chunks and caches must not change a token.
int check(Setting s) {
  auto asked = serve(model_file(s), s.launch, s.workload);
  if (!asked) return could_not(asked.error());
  Setting plain = s;
  plain.launch.engine = {};
  plain.launch.engine.prefix_cache = false;
  plain.launch.load.threads = 1;
  plain.workload.in_flight = 1;
  size_caches(plain);
  auto expected = serve(model_file(s), plain.launch, plain.workload);
  if (!expected) return could_not(expected.error());
  nlohmann::json line = {{"check", "serve"}, {"ok", true}, {"first_mismatch", nullptr}};
  for (std::size_t i = 0; i < asked->answers.size() && line["ok"]; ++i) {
    const auto [a, b] = std::ranges::mismatch(asked->answers[i], expected->answers[i]);
    if (a == asked->answers[i].end() && b == expected->answers[i].end()) continue;
    line["ok"] = false;
    line["first_mismatch"] = {{"request", i}, {"token", a - asked->answers[i].begin()}};
  }
  line["detail"] = {{"requests", asked->answers.size()}, {"steps", asked->stats.steps}};
  std::cout << line.dump() << "\n";
  return line["ok"] ? kPassed : kFailed;
}

int run(int argc, char** argv) {
  Setting setting;
  setting.spec.vocabulary = 4096;
  CLI::App app("Serves a stated workload inside this process");
  app.require_subcommand(1);
  for (const char* name : {"bench", "check", "timeline"}) {
    add_options(*app.add_subcommand(name, name), setting);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kPassed : kCouldNotRun;
  }
  size_caches(setting);
  if (auto made = model::make_model(setting.spec, model_file(setting)); !made) {
    return could_not(made.error());
  }
  const std::string command = app.get_subcommands().front()->get_name();
  return command == "bench"   ? bench(setting)
         : command == "check" ? check(setting)
                              : timeline(setting);
}

}  // namespace
}  // namespace serving::probe

int main(int argc, char** argv) { return serving::probe::run(argc, argv); }

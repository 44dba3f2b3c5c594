// nightshift-bench: puts load on any OpenAI-compatible server and reports what its users saw.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "serving/bench/load.h"
#include "serving/bench/report.h"

namespace serving::bench {
namespace {

struct Options {
  ClientOptions client;
  WorkloadOptions workload;
  ReportOptions report;
  int concurrency = 1;        // of the closed loop
  int max_concurrency = 256;  // of the open loop
  int warmups = 1;
  bool stop_at_eos = false;
  std::vector<std::string> goodput;
  std::string output;
};

void declare(CLI::App& app, Options& o) {
  app.add_option("--url", o.client.url, "scheme://host:port")->capture_default_str();
  app.add_option("--endpoint", o.client.endpoint, "/v1/completions or /v1/chat/completions")
      ->check(CLI::IsMember({"completions", "chat"}))
      ->capture_default_str();
  app.add_option("--model", o.client.model, "default: the first that the server lists");
  app.add_option("--api-key", o.client.api_key)->envname("OPENAI_API_KEY");
  app.add_flag("--text", o.client.text, "prompts as words instead of token ids");
  app.add_flag("--stop-at-eos", o.stop_at_eos, "do not ask for ignore_eos (a vLLM extension)");
  app.add_option("--temperature", o.client.temperature)->capture_default_str();
  app.add_option("--timeout", o.client.timeout_s, "seconds between chunks")->capture_default_str();

  app.add_option("--workload", o.workload.kind, "random, shared-prefix, multi-turn or replay")
      ->capture_default_str();
  app.add_option("--seed", o.workload.seed)->capture_default_str();
  app.add_option("--num-prompts", o.workload.requests, "requests, counting each turn")
      ->capture_default_str();
  app.add_option("--vocabulary", o.workload.vocabulary, "of the model")->capture_default_str();
  app.add_option("--input-len", o.workload.input_tokens)->capture_default_str();
  app.add_option("--output-len", o.workload.output_tokens)->capture_default_str();
  app.add_option("--range-ratio", o.workload.range_ratio, "lengths vary by this part, 0 to 1")
      ->capture_default_str();
  app.add_option("--prefix-len", o.workload.prefix_tokens, "shared-prefix")->capture_default_str();
  app.add_option("--prefixes", o.workload.prefixes, "shared-prefix")->capture_default_str();
  app.add_option("--turns", o.workload.turns, "multi-turn")->capture_default_str();
  app.add_option("--trace", o.workload.trace, "replay: JSON lines or CSV");
  app.add_option("--length-scale", o.workload.length_scale, "replay: of all lengths")
      ->capture_default_str();
  app.add_option("--speed", o.workload.speed, "replay: times pass so much faster")
      ->capture_default_str();

  app.add_option("--concurrency", o.concurrency, "closed loop: requests under way")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--request-rate", o.workload.arrivals.rate_per_s,
                 "open loop: requests a second; 0: closed loop")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--burstiness", o.workload.arrivals.burstiness,
                 "open loop: shape of the gamma distribution, 1 is Poisson")
      ->capture_default_str();
  app.add_option("--max-concurrency", o.max_concurrency, "open loop: requests under way at most")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--warmups", o.warmups, "requests before the measurement")->capture_default_str();

  app.add_option("--percentiles", o.report.percentiles)
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--goodput", o.goodput,
                 "limits in ms that a good request meets: ttft:200 tpot:50");
  app.add_flag("--save-detailed", o.report.detailed, "each request's own numbers too");
  app.add_option("--output", o.output,
                 "file for the JSON; - is stdout, and nothing else is printed");
}

bool is_open_loop(const Options& o) {
  return o.workload.kind == "replay" || o.workload.arrivals.rate_per_s > 0;
}

nlohmann::ordered_json settings(const Options& o) {
  const double rate = o.workload.arrivals.rate_per_s;
  nlohmann::ordered_json out;
  out["endpoint_type"] = o.client.endpoint == "chat" ? "openai-chat" : "openai";
  out["model_id"] = o.client.model;
  out["workload"] = o.workload.kind;
  out["seed"] = o.workload.seed;
  out["num_prompts"] = o.workload.requests;
  out["request_rate"] = rate > 0 ? nlohmann::ordered_json(rate) : nlohmann::ordered_json("inf");
  out["burstiness"] = o.workload.arrivals.burstiness;
  out["max_concurrency"] = is_open_loop(o) ? o.max_concurrency : o.concurrency;
  return out;
}

int bad_usage(const Error& error) {
  std::cerr << "nightshift-bench: " << error.message << '\n';
  return 2;
}

// Other prompts than the measured ones, so that nothing of these is cached yet.
void warm_up(const Options& o) {
  WorkloadOptions options;
  options.requests = static_cast<std::size_t>(o.warmups);
  options.seed = ~o.workload.seed;
  options.vocabulary = o.workload.vocabulary;
  options.input_tokens = std::min(o.workload.input_tokens, 32);
  options.output_tokens = std::min(o.workload.output_tokens, 8);
  if (const auto workload = make_workload(options)) run_load(*workload, o.client, {.workers = 1});
}

int write(const Options& o, const nlohmann::ordered_json& result) {
  const std::string text =
      result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (o.output == "-") {
    std::cout << text;
  } else {
    std::cout << summary(result);
    if (!o.output.empty()) {
      std::ofstream file(o.output);
      file << text << std::flush;
      if (!file) return bad_usage({ErrorCode::io, "cannot write " + o.output});
    }
  }
  return result["completed"].get<long>() > 0 ? 0 : 1;
}

int run(Options& o) {
  o.client.ignore_eos = !o.stop_at_eos;
  const auto goodput = parse_goodput(o.goodput);
  if (!goodput) return bad_usage(goodput.error());
  o.report.goodput = *goodput;
  const auto workload = make_workload(o.workload);
  if (!workload) return bad_usage(workload.error());
  if (o.client.model.empty()) o.client.model = first_model(o.client);
  if (o.warmups > 0) warm_up(o);
  LoadOptions load{.workers = is_open_loop(o) ? o.max_concurrency : o.concurrency,
                   .seed = o.workload.seed};
  load.workers = std::min(load.workers, static_cast<int>(workload->size()));
  nlohmann::ordered_json result = settings(o);
  result.update(report(run_load(*workload, o.client, load), o.report));
  return write(o, result);
}

}  // namespace
}  // namespace serving::bench

// 0: measured; 1: no request was completed; 2: called wrongly.
int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Puts load on an OpenAI-compatible server and measures what its users see.");
  serving::bench::Options options;
  serving::bench::declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return serving::bench::run(options);
}

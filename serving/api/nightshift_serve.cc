// nightshift-serve: `serve` loads a model's file and answers OpenAI's API; `make-model` writes a
// file with random weights. The wiring of the parts, and nothing else.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <map>
#include <random>

#include "serving/api/api.h"
#include "serving/api/listener.h"
#include "serving/engine/make_engine.h"
#include "serving/model/load_model.h"
#include "serving/model/make_model.h"
#include "serving/trace/trace.h"

namespace serving {
namespace {

struct Options {
  std::string model_file, model_name, chat_template, trace_file;
  bool trace_later = false;
  LoadOptions load;
  EngineOptions engine;
  CompletionOptions completions;
  ListenerOptions listener{.port = 8080};
};

class FileTrace final : public TraceControl {
 public:
  explicit FileTrace(std::string path) : path_(std::move(path)) {}
  Status start() override { return start_trace(); }
  Result<std::string> stop() override {
    const auto summary = stop_trace(path_);
    if (!summary) return tl::unexpected<Error>(summary.error());
    return path_;
  }

 private:
  std::string path_;
};

void declare_engine(CLI::App& app, Options& o) {
  static const std::map<std::string, model::CacheType> kCacheTypes = {
      {"f32", model::CacheType::f32}, {"f16", model::CacheType::f16}, {"i8", model::CacheType::i8}};
  static const std::map<std::string, Policy> kPolicies = {{"fcfs", Policy::fcfs},
                                                          {"fair", Policy::fair}};
  app.add_option("--threads", o.load.threads, "that compute; 0: one a processor")
      ->capture_default_str();
  app.add_flag("--pin-threads", o.load.pin_threads, "each computing thread keeps its processor");
  app.add_option("--max-batch", o.engine.max_running, "requests computed together")
      ->capture_default_str();
  app.add_option("--max-batch-tokens", o.engine.max_batch_tokens, "tokens a step")
      ->capture_default_str();
  app.add_option("--chunk", o.engine.chunk_tokens, "tokens of one prompt in a step")
      ->capture_default_str();
  app.add_option("--queue", o.engine.queue_limit, "requests that may wait for the batch")
      ->capture_default_str();
  app.add_option("--policy", o.engine.policy, "which prompts go first: fcfs or fair")
      ->transform(CLI::CheckedTransformer(kPolicies));
  app.add_option("--pages", o.load.pages, "of the cache of keys and values")->capture_default_str();
  app.add_option("--page-tokens", o.load.page_tokens, "positions a page")->capture_default_str();
  app.add_option("--slots", o.load.slots, "of recurrent state")->capture_default_str();
  app.add_option("--cache-type", o.load.cache_type, "of keys and values: f32, f16 or i8")
      ->transform(CLI::CheckedTransformer(kCacheTypes));
  app.add_flag("!--no-prefix-cache", o.engine.prefix_cache, "compute every prompt anew");
  app.add_option("--checkpoint-every-pages", o.engine.checkpoint_every_pages,
                 "of recurrent state, along prompts; 0: only at their ends")
      ->capture_default_str();
}

void declare_server(CLI::App& app, Options& o) {
  app.add_option("--model", o.model_file, "GGUF file")->required();
  app.add_option("--model-name", o.model_name, "in the API; default: the file's own");
  app.add_option("--chat-template", o.chat_template, "by name, instead of the file's");
  app.add_option("--host", o.listener.host)->capture_default_str();
  app.add_option("--port", o.listener.port, "0: any free one")->capture_default_str();
  app.add_option("--answers", o.completions.answers, "requests answered at a time; beyond: 503")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--body-bytes", o.listener.lobby.body_bytes, "the largest request")
      ->capture_default_str();
  app.add_option("--seed", o.completions.seed, "of requests that bring none; default: random");
  app.add_option("--trace", o.trace_file,
                 "record a timeline, written at the end or POST /trace/stop");
  app.add_flag("--trace-later", o.trace_later, "record only after POST /trace/start");
}

int fail_with(const Error& error) {
  std::cerr << "nightshift-serve: " << error.message << '\n';
  return error.code == ErrorCode::bad_input || error.code == ErrorCode::not_found ? 2 : 1;
}

// Every connection is a descriptor; the usual soft limit of 1,024 is too few for the lobby.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Until SIGINT or SIGTERM, which must have been blocked before any thread was started.
void wait_for_end(const sigset_t& signals) {
  int signal = 0;
  ::sigwait(&signals, &signal);
}

int serve(Options o) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  raise_descriptor_limit();

  if (!o.chat_template.empty()) {
    const auto format = chat_format_of_name(o.chat_template);
    if (!format) return fail_with(format.error());
    o.completions.chat_format = *format;
  }
  o.load.most_batch_tokens = o.engine.max_batch_tokens;
  o.load.most_chunks = std::max(o.load.most_chunks, o.engine.max_running);
  auto loaded = load_model(o.model_file, o.load);
  if (!loaded) return fail_with(loaded.error());
  if (auto sound = check_options(o.engine, loaded->model->shape()); !sound) {
    return fail_with(sound.error());
  }
  FileTrace trace(o.trace_file);
  const bool traced = !o.trace_file.empty();
  if (traced && !o.trace_later) {
    if (auto started = trace.start(); !started) return fail_with(started.error());
  }
  const auto engine = make_engine(std::move(loaded->model), o.engine);
  o.completions.model = o.model_name.empty() ? loaded->name : o.model_name;
  o.completions.unix_s = [] {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(now).count();
  };
  Api api(*engine, *loaded->tokenizer, o.completions, traced ? &trace : nullptr);
  o.listener.threads = o.completions.answers + 8;  // to refuse, and to answer /health, beside them
  auto listener = Listener::start(
      o.listener, [&](const HttpRequest& request, Reply& reply) { api.handle(request, reply); });
  if (!listener) return fail_with(listener.error());
  std::cout << "serving " << o.completions.model << " (" << loaded->architecture << ") at http://"
            << o.listener.host << ':' << (*listener)->port() << std::endl;
  wait_for_end(signals);
  listener->reset();
  if (trace_is_on()) {
    if (auto written = trace.stop(); !written) return fail_with(written.error());
  }
  return 0;
}

}  // namespace
}  // namespace serving

// 0: ended by a signal; 1: the machine failed us; 2: called wrongly, or a file that is no model.
int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc > 1 && std::strcmp(argv[1], "make-model") == 0) {
    return serving::model::make_model_command(argc - 1, argv + 1);
  }
  serving::Options options;
  options.completions.seed = std::random_device{}();
  CLI::App app("Serves a language model over OpenAI's API.");
  app.require_subcommand(1);
  CLI::App* serve = app.add_subcommand("serve", "answer requests until SIGINT or SIGTERM");
  serving::declare_server(*serve, options);
  serving::declare_engine(*serve, options);
  app.add_subcommand("make-model", "write a GGUF file with random weights (see make-model --help)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return serving::serve(std::move(options));
}

#include "serving/api/metrics.h"

#include <sstream>

namespace serving {
namespace {

constexpr const char* kPrefix = "nightshift_";

void preamble(std::string& out, const std::string& name, const char* type,
              const std::string& help) {
  out += "# HELP " + (kPrefix + name) + " " + help + "\n";
  out += "# TYPE " + (kPrefix + name) + " " + type + "\n";
}

template <class Number>
void sample(std::string& out, const std::string& name, Number value) {
  std::ostringstream text;
  text.precision(9);
  text << value;
  out += kPrefix + name + " " + text.str() + "\n";
}

void counter(std::string& out, const std::string& name, std::uint64_t value, const char* help) {
  preamble(out, name, "counter", help);
  sample(out, name, value);
}

void gauge(std::string& out, const std::string& name, int value, const char* help) {
  preamble(out, name, "gauge", help);
  sample(out, name, value);
}

void write_engine(std::string& out, const EngineStats& stats) {
  counter(out, "requests_total", stats.requests, "Requests that the engine took.");
  counter(out, "requests_finished_total", stats.finished, "Answers that came to their end.");
  counter(out, "requests_cancelled_total", stats.cancelled, "Answers given up before their end.");
  counter(out, "requests_failed_total", stats.failed, "Requests that the engine could not finish.");
  counter(out, "preemptions_total", stats.preempted, "Times a request lost its pages to another.");
  counter(out, "engine_steps_total", stats.steps, "Forward passes.");
  counter(out, "prompt_tokens_total", stats.prompt_tokens, "Tokens of prompts that ended.");
  counter(out, "prompt_tokens_cached_total", stats.cached_tokens,
          "Tokens of prompts that the prefix cache spared.");
  counter(out, "generation_tokens_total", stats.output_tokens, "Tokens of answers.");
  counter(out, "computed_tokens_total", stats.computed_tokens,
          "Tokens that went through the model.");
  counter(out, "recomputed_tokens_total", stats.recomputed_tokens,
          "Of these, again after a preemption.");
  gauge(out, "requests_waiting", stats.waiting, "Requests that have not begun.");
  gauge(out, "requests_running", stats.running, "Requests in the batch.");
  gauge(out, "cache_pages_used", stats.pages_used, "Pages of keys and values in use.");
  gauge(out, "cache_pages_reusable", stats.pages_cached, "Pages that only the prefix cache holds.");
  gauge(out, "cache_pages", stats.pages, "Pages of keys and values there are.");
  gauge(out, "state_slots_used", stats.slots_used, "Slots of recurrent state in use.");
  gauge(out, "state_slots_reusable", stats.slots_cached, "Slots that only the prefix cache holds.");
  gauge(out, "state_slots", stats.slots, "Slots of recurrent state there are.");
}

}  // namespace

void Histogram::add(double seconds) {
  std::size_t bucket = 0;
  while (bucket < kBounds_s.size() && seconds > kBounds_s[bucket]) ++bucket;
  counts_[bucket].fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(static_cast<std::uint64_t>(seconds * 1e9), std::memory_order_relaxed);
}

void Histogram::write(std::string& out, const std::string& name, const std::string& help) const {
  preamble(out, name, "histogram", help);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= kBounds_s.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    std::ostringstream bound;
    if (i < kBounds_s.size()) {
      bound << kBounds_s[i];
    } else {
      bound << "+Inf";
    }
    sample(out, name + "_bucket{le=\"" + bound.str() + "\"}", total);
  }
  sample(out, name + "_sum", static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) * 1e-9);
  sample(out, name + "_count", total);
}

void Metrics::answered(int status) {
  auto& count = status < 400    ? ok_
                : status < 500  ? refused_
                : status == 503 ? overloaded_
                                : failed_;
  count.fetch_add(1, std::memory_order_relaxed);
}

std::string Metrics::text(const EngineStats& engine, int answering) const {
  std::string out;
  write_engine(out, engine);
  preamble(out, "http_completions_total", "counter", "Completion requests by how they ended.");
  sample(out, "http_completions_total{result=\"ok\"}", ok_.load());
  sample(out, "http_completions_total{result=\"refused\"}", refused_.load());
  sample(out, "http_completions_total{result=\"overloaded\"}", overloaded_.load());
  sample(out, "http_completions_total{result=\"failed\"}", failed_.load());
  counter(out, "http_disconnects_total", disconnects_.load(), "Clients gone before their answer.");
  gauge(out, "http_answering", answering, "Completion requests being answered.");
  time_to_first_token.write(out, "time_to_first_token_seconds", "From request to first token.");
  request_time.write(out, "request_seconds", "From request to the end of the answer.");
  return out;
}

}  // namespace serving

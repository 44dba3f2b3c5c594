// An engine for tests of what stands above it: no model, the answer repeats the prompt (or a given
// reply) token by token, each after a settable delay.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <random>
#include <string>

#include "serving/engine/engine.h"

namespace serving {

struct FakeEngineOptions {
  std::chrono::microseconds token_delay{0};
  std::vector<Token> reply;  // empty: the prompt over and over
  int queue = 1 << 20;       // requests at a time; beyond: overloaded
  int vocabulary = 1024;
  int context = 4096;
  int cached_tokens = 0;
  int fails_after = -1;  // tokens; -1: never
};

// What the answers and their engine share; an answer may outlive neither.
struct FakeEngineState {
  std::mutex mutex;
  EngineStats stats;             // guarded by mutex
  std::vector<Request> history;  // guarded by mutex
};

class FakeAnswer final : public Answer {
 public:
  FakeAnswer(Request request, FakeEngineOptions options, FakeEngineState& state)
      : request_(std::move(request)),
        options_(std::move(options)),
        state_(state),
        random_(request_.sampling.seed),
        due_(Clock::now() + options_.token_delay) {}

  ~FakeAnswer() override {
    std::lock_guard lock(state_.mutex);
    --state_.stats.running;
    ++(finished_ ? state_.stats.finished : state_.stats.cancelled);
  }

  std::optional<Step> next(std::chrono::milliseconds wait) override {
    std::unique_lock lock(mutex_);
    const auto until = std::min(due_, Clock::now() + wait);
    woken_.wait_until(lock, until, [&] { return cancelled_; });
    if (cancelled_) return last(Finish::cancelled);
    if (Clock::now() < due_) return std::nullopt;
    due_ += options_.token_delay;
    return produce();
  }
  void cancel() override {
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    woken_.notify_all();
  }

 private:
  using Clock = std::chrono::steady_clock;

  Step produce() {
    if (produced_ == options_.fails_after) return last(Finish::failed);
    if (request_.constraint && request_.constraint->complete()) return ended();
    const std::optional<Token> token = request_.constraint ? allowed() : repeated();
    if (!token) return last(Finish::failed);
    const auto& ends = request_.end_tokens;
    if (!request_.ignore_eos && std::find(ends.begin(), ends.end(), *token) != ends.end()) {
      return ended();
    }
    if (request_.constraint) request_.constraint->accept(*token);
    ++produced_;
    Step step;
    step.token = token;
    step.logprob = -0.5f;
    for (int i = 0; i < request_.sampling.top_logprobs; ++i) {
      step.top.push_back({(*token + i) % options_.vocabulary, -0.5f - static_cast<float>(i)});
    }
    if (produced_ == request_.max_tokens) {
      finished_ = true;
      step.finish = Finish::length;
      step.cached_tokens = options_.cached_tokens;
    }
    std::lock_guard lock(state_.mutex);
    ++state_.stats.output_tokens;
    return step;
  }
  Step ended() {
    finished_ = true;
    return last(Finish::stop);
  }
  Step last(Finish finish) const {
    Step step;
    step.finish = finish;
    step.cached_tokens = options_.cached_tokens;
    return step;
  }
  std::optional<Token> repeated() const {
    const auto& source = options_.reply.empty() ? request_.prompt : options_.reply;
    const auto at = static_cast<std::size_t>(produced_);
    if (!options_.reply.empty() && at >= source.size()) {
      if (!request_.ignore_eos && !request_.end_tokens.empty()) return request_.end_tokens.front();
    }
    return source[at % source.size()];
  }
  // Any allowed token, each as likely; none where the grammar and the vocabulary do not meet.
  std::optional<Token> allowed() {
    std::vector<bool> mask(static_cast<std::size_t>(options_.vocabulary), true);
    request_.constraint->allow(mask);
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i]) tokens.push_back(static_cast<Token>(i));
    }
    if (tokens.empty()) return std::nullopt;
    return tokens[random_() % tokens.size()];
  }

  Request request_;
  FakeEngineOptions options_;
  FakeEngineState& state_;
  std::mt19937_64 random_;
  std::mutex mutex_;
  std::condition_variable woken_;
  Clock::time_point due_;   // of the next token; guarded by mutex_
  bool cancelled_ = false;  // guarded by mutex_
  int produced_ = 0;
  bool finished_ = false;
};

class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(FakeEngineOptions options = {}) : options_(std::move(options)) {
    shape_.vocabulary = options_.vocabulary;
    shape_.context = options_.context;
  }

  Result<std::unique_ptr<Answer>> submit(Request request) override {
    for (Token token : request.prompt) {
      if (token < 0 || token >= options_.vocabulary) {
        return fail(ErrorCode::bad_input, "token " + std::to_string(token) + " is not in 0 .. " +
                                              std::to_string(options_.vocabulary - 1));
      }
    }
    std::lock_guard lock(state_.mutex);
    if (state_.stats.running >= options_.queue) {
      return fail(ErrorCode::overloaded, "the queue of the engine is full; try again later");
    }
    ++state_.stats.requests;
    ++state_.stats.running;
    state_.stats.prompt_tokens += request.prompt.size();
    state_.history.push_back(request);
    return std::make_unique<FakeAnswer>(std::move(request), options_, state_);
  }
  EngineStats stats() const override {
    std::lock_guard lock(state_.mutex);
    return state_.stats;
  }
  const ModelShape& shape() const override { return shape_; }

  Request last_request() const {
    std::lock_guard lock(state_.mutex);
    return state_.history.back();
  }

 private:
  FakeEngineOptions options_;
  ModelShape shape_;
  mutable FakeEngineState state_;
};

}  // namespace serving

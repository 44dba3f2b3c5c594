// The engine with its thread, as the API sees it.
#include "serving/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "serving/engine/make_engine.h"
#include "serving/engine/test_answers.h"
#include "serving/engine/test_driver.h"
#include "serving/trace/trace.h"

namespace serving {
namespace {

// Lets a test hold the engine inside a forward.
class Gate {
 public:
  void close() {
    std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    {
      std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = true;
};

struct Rig {
  explicit Rig(const ModelShape& shape, const EngineOptions& options = {}) {
    auto fake = std::make_unique<FakeModel>(shape);
    fake->on_forward = [this] {
      gate.pass();
      if (throws.exchange(false)) throw std::runtime_error("out of luck");
    };
    engine = make_engine(std::move(fake), options);
  }
  std::unique_ptr<Answer> ask(const Job& job) { return submit(request_of(job)); }
  std::unique_ptr<Answer> submit(Request request) { return submit_to(*engine, std::move(request)); }

  Gate gate;
  std::atomic<bool> throws = false;
  std::unique_ptr<Engine> engine;
};

TEST_CASE("an answer ends with length, and says what was cached") {
  const ModelShape shape = fake_shape(true, true);
  Rig rig(shape);
  const Job job{iota(1, 40, 64), 9};
  const Read first = read(*rig.ask(job));
  CHECK(first.tokens == alone(shape, job));
  CHECK(first.last.finish == Finish::length);
  CHECK(first.last.cached_tokens == 0);
  CHECK(read(*rig.ask(job)).last.cached_tokens == 39);
  const EngineStats stats = rig.engine->stats();
  CHECK(stats.finished == 2);
  CHECK(stats.prompt_tokens == 80);
  CHECK(stats.cached_tokens == 39);
  CHECK(stats.output_tokens == 18);
  CHECK(stats.computed_tokens == 80 - 39 + 16);
  CHECK(stats.pages_used == 0);
  CHECK(stats.slots_used == 0);
  CHECK(stats.slots_cached > 0);
}

TEST_CASE("an end token ends the answer and is not part of it, unless it is ignored") {
  const ModelShape shape = fake_shape(true, false);
  Rig rig(shape);
  const Job job{iota(1, 40, 64), 9};
  const std::vector<Token> whole = alone(shape, job);
  Request request = request_of(job);
  request.end_tokens = {whole[4], 1000};
  const auto end = std::find(whole.begin(), whole.end(), whole[4]);
  const Read ended = read(*rig.submit(request));
  CHECK(ended.tokens == std::vector<Token>(whole.begin(), end));
  CHECK(ended.last.finish == Finish::stop);
  CHECK(!ended.last.token);
  request.ignore_eos = true;
  CHECK(read(*rig.submit(request)).tokens == whole);
}

// Even tokens only, and complete after three.
class EvenTokens final : public Constraint {
 public:
  void allow(std::vector<bool>& tokens) override {
    for (std::size_t i = 1; i < tokens.size(); i += 2) tokens[i] = false;
    if (forbids_all) tokens.assign(tokens.size(), false);
  }
  void accept(Token token) override {
    if (token % 2 != 0) throw std::logic_error("odd");
    ++accepted;
  }
  bool complete() const override { return accepted == 3; }

  int accepted = 0;
  bool forbids_all = false;
};

TEST_CASE("a constraint says what may come, and when the answer is whole") {
  Rig rig(fake_shape(true, false));
  Request request = request_of({iota(1, 10, 64), 20});
  request.sampling = {.temperature = 1, .seed = 4};
  request.constraint = std::make_shared<EvenTokens>();
  const Read all = read(*rig.submit(request));
  CHECK(all.tokens.size() == 3);
  for (const Token token : all.tokens) CHECK(token % 2 == 0);
  CHECK(all.last.finish == Finish::stop);
  CHECK(all.last.token);

  auto stuck = std::make_shared<EvenTokens>();
  stuck->forbids_all = true;
  request.constraint = stuck;
  CHECK(read(*rig.submit(request)).last.finish == Finish::failed);
}

TEST_CASE("the queue is bounded, and a finished request makes room") {
  Rig rig(fake_shape(true, true), {.max_running = 2, .queue_limit = 3});
  rig.gate.close();
  const Job job{iota(1, 10, 64), 2};
  std::vector<std::unique_ptr<Answer>> answers;
  for (int i = 0; i < 5; ++i) answers.push_back(rig.ask(job));
  const auto refused = rig.engine->submit(request_of(job));
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::overloaded);
  rig.gate.open();
  read(*answers[0]);
  CHECK(rig.engine->submit(request_of(job)));
}

TEST_CASE("what can never be served is refused at once") {
  Rig rig(fake_shape(true, false, 4));
  const auto refusal = [&](Request request) {
    const auto answer = rig.engine->submit(std::move(request));
    REQUIRE(!answer);
    return answer.error();
  };
  CHECK(refusal(request_of({{}, 1})).code == ErrorCode::bad_input);
  CHECK(refusal(request_of({{1, 64}, 1})).message.find("token 64") == 0);
  CHECK(refusal(request_of({{1, -1}, 1})).message.find("token -1") == 0);
  CHECK(refusal(request_of({iota(0, 60, 64), 6})).code == ErrorCode::bad_input);
  CHECK(refusal(request_of({{1}, 1, {.top_p = 7}})).message.find("top_p") == 0);
}

TEST_CASE("cancelling frees what the request holds, running or waiting") {
  Rig rig(fake_shape(true, true), {.max_running = 1});
  rig.gate.close();
  auto running = rig.ask({iota(1, 100, 64), 800});
  auto waiting = rig.ask({iota(2, 100, 64), 800});
  waiting->cancel();
  rig.gate.open();
  CHECK(read(*waiting).last.finish == Finish::cancelled);
  REQUIRE(running->next(kLong));
  running->cancel();
  CHECK(read(*running).last.finish == Finish::cancelled);
  CHECK(!running->next(std::chrono::milliseconds(0)));
  const EngineStats stats = rig.engine->stats();
  CHECK(stats.cancelled == 2);
  CHECK(stats.running == 0);
  CHECK(stats.waiting == 0);
  CHECK(stats.pages_used == 0);
  CHECK(stats.slots_used == 0);
}

TEST_CASE("dropping an answer cancels its request") {
  Rig rig(fake_shape(true, true), {.max_running = 1});
  rig.ask({iota(1, 100, 64), 900}).reset();
  read(*rig.ask({iota(1, 10, 64), 2}));  // would wait for 900 tokens otherwise
  const EngineStats stats = rig.engine->stats();
  CHECK(stats.cancelled == 1);
  CHECK(stats.output_tokens < 902);
}

TEST_CASE("a failing forward fails its requests, and the next ones are right") {
  const ModelShape shape = fake_shape(true, true);
  Rig rig(shape);
  const Job job{iota(1, 50, 64), 8};
  read(*rig.ask(job));
  rig.throws = true;
  const Read failed = read(*rig.ask(job));
  CHECK(failed.last.finish == Finish::failed);
  const Read after = read(*rig.ask(job));
  CHECK(after.tokens == alone(shape, job));
  CHECK(rig.engine->stats().failed == 1);
  CHECK(rig.engine->stats().pages_used == 0);
}

TEST_CASE("shutdown answers all requests, and later cancels are harmless") {
  std::vector<std::unique_ptr<Answer>> answers;
  {
    Rig rig(fake_shape(true, true), {.max_running = 2});
    rig.gate.close();
    for (int i = 0; i < 6; ++i) answers.push_back(rig.ask({iota(i, 30, 64), 700}));
    rig.gate.open();
  }
  for (const auto& answer : answers) {
    const Finish finish = read(*answer).last.finish;
    CHECK(finish == Finish::failed);
    answer->cancel();
  }
}

TEST_CASE("many threads submit, read, cancel and drop at once") {
  const ModelShape shape = fake_shape(true, true, 24, 6);
  Rig rig(shape, {.max_batch_tokens = 40,
                  .max_running = 5,
                  .queue_limit = 100,
                  .chunk_tokens = 24,
                  .checkpoint_every_pages = 1});
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 25; ++i) {
        const Job job{iota(i % 7, 5 + 9 * ((i + client) % 5), 64),
                      3 + i % 17,
                      {.temperature = 1, .seed = static_cast<std::uint64_t>(i)}};
        auto answer = rig.engine->submit(request_of(job));
        if (!answer) {
          ++wrong;
          continue;
        }
        if (i % 6 == client) continue;  // dropped
        if (i % 6 == client + 1) (*answer)->cancel();
        std::vector<Token> tokens;
        Finish finish = Finish::none;
        while (finish == Finish::none) {
          const auto step = (*answer)->next(kLong);
          if (!step) break;
          if (step->token) tokens.push_back(*step->token);
          finish = step->finish;
        }
        std::vector<Token> expected = alone(shape, job);
        if (finish == Finish::cancelled) expected.resize(tokens.size());
        wrong += finish == Finish::none || tokens != expected;
        rig.engine->stats();
      }
    });
  }
  clients.clear();
  CHECK(wrong == 0);
  while (rig.engine->stats().finished + rig.engine->stats().cancelled < 100) {
    std::this_thread::yield();
  }
  const EngineStats stats = rig.engine->stats();
  CHECK(stats.requests == 100);
  CHECK(stats.running + stats.waiting == 0);
  CHECK(stats.pages_used == 0);
  CHECK(stats.slots_used == 0);
}

TEST_CASE("a trace has the engine's lane and the spans of its steps") {
  REQUIRE(start_trace());
  {
    Rig rig(fake_shape(true, false));
    read(*rig.ask({iota(1, 10, 64), 5}));
  }
  std::ostringstream out;
  REQUIRE(stop_trace(out));
  for (const char* text : {"{\"name\":\"engine\"}", "\"engine.plan\"", "\"engine.step\"",
                           "\"engine.sample\"", "\"engine.deliver\"", "\"tokens\":10"}) {
    INFO(text);
    CHECK(out.str().find(text) != std::string::npos);
  }
}

TEST_CASE("options out of range are refused by name") {
  const ModelShape shape = fake_shape(true, true);
  CHECK(check_options({}, shape));
  CHECK(check_options({.max_batch_tokens = 3}, shape).error().message.find("max_batch_tokens") ==
        0);
  CHECK(check_options({.max_running = 0}, shape).error().message.find("max_running") == 0);
  CHECK(check_options({.chunk_tokens = 0}, shape).error().message.find("chunk_tokens") == 0);
  CHECK(check_options({.queue_limit = -1}, shape).error().message.find("queue_limit") == 0);
  CHECK(check_options({.checkpoint_every_pages = -1}, shape).error().message.find("checkpoint") ==
        0);
  CHECK(!check_options({}, fake_shape(true, true, 0)));
  CHECK(!check_options({}, fake_shape(true, true, 8, 0)));
}

}  // namespace
}  // namespace serving

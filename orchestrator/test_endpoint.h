// A chat endpoint on the loopback interface that answers by a script, for the tests of the LLM
// planner.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "orchestrator/llm.h"

namespace orchestrator {

// It must appear nowhere but in the Authorization header.
inline constexpr const char* kFakeKey = "fake-key-93f1c0de77aa";

class TestEndpoint {
 public:
  using Reply = std::function<void(TestEndpoint&, httplib::Response&)>;

  // Answers the n-th request by the n-th reply, those beyond by the last.
  explicit TestEndpoint(std::vector<Reply> replies);
  ~TestEndpoint();

  std::string url() const;
  int requests() const;
  std::string body(int nth) const;           // of the n-th request, from 0
  std::string authorization(int nth) const;  // its header

  // Blocks a reply until the test is over or this much time has passed.
  void hold(double seconds);

 private:
  std::vector<Reply> replies_;
  httplib::Server server_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;                       // guarded by mutex_
  std::vector<std::string> bodies_, keys_;  // guarded by mutex_
  std::jthread thread_;
};

// A completion with this text; no usage when `tokens` is 0.
TestEndpoint::Reply says(const std::string& text, int tokens = 100,
                         const std::string& finish_reason = "stop");
TestEndpoint::Reply body(const std::string& text);
TestEndpoint::Reply status(int code, const std::string& text);

inline constexpr const char* kGoodKnob =
    R"({"step": "knobs", "claim": "wider tiles", "knobs": {"toy.tile": 64},)"
    R"( "predicts": "toy.time{batch=1} -10%"})";

// A question about the toy target to this endpoint: answers of 1000 tokens, one retry.
LlmQuestion toy_question(const std::string& url);

// ask_llm with the fake key; fails the test when the key shows in what is kept or sent as text.
PlannerAnswered ask(const LlmQuestion& question);
PlannerAnswered ask(const TestEndpoint& endpoint, const LlmQuestion& question);

bool holds(const std::string& text, const std::string& part);

// Messages of the n-th request, "role: content" each.
std::vector<std::string> messages(const TestEndpoint& endpoint, int nth);

}  // namespace orchestrator

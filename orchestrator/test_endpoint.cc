#include "orchestrator/test_endpoint.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "orchestrator/test_view.h"

namespace orchestrator {

using nlohmann::json;

TestEndpoint::TestEndpoint(std::vector<Reply> replies) : replies_(std::move(replies)) {
  server_.Post("/v1/chat/completions",
               [this](const httplib::Request& request, httplib::Response& response) {
                 std::size_t nth = 0;
                 {
                   std::lock_guard lock(mutex_);
                   nth = bodies_.size();
                   bodies_.push_back(request.body);
                   keys_.push_back(request.get_header_value("Authorization"));
                 }
                 replies_[std::min(nth, replies_.size() - 1)](*this, response);
               });
  port_ = server_.bind_to_any_port("127.0.0.1");
  thread_ = std::jthread([this] { server_.listen_after_bind(); });
  while (!server_.is_running()) std::this_thread::yield();  // a stop before that would be lost
}

TestEndpoint::~TestEndpoint() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  server_.stop();
}

std::string TestEndpoint::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

int TestEndpoint::requests() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(bodies_.size());
}

std::string TestEndpoint::body(int nth) const {
  std::lock_guard lock(mutex_);
  return bodies_.at(static_cast<std::size_t>(nth));
}

std::string TestEndpoint::authorization(int nth) const {
  std::lock_guard lock(mutex_);
  return keys_.at(static_cast<std::size_t>(nth));
}

void TestEndpoint::hold(double seconds) {
  std::unique_lock lock(mutex_);
  ended_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over_; });
}

TestEndpoint::Reply says(const std::string& text, int tokens, const std::string& finish_reason) {
  json reply = {{"choices", json::array({{{"message", {{"role", "assistant"}, {"content", text}}},
                                          {"finish_reason", finish_reason}}})}};
  if (tokens > 0) reply["usage"] = {{"total_tokens", tokens}};
  return body(reply.dump());
}

TestEndpoint::Reply body(const std::string& text) {
  return [text](TestEndpoint&, httplib::Response& response) {
    response.set_content(text, "application/json");
  };
}

TestEndpoint::Reply status(int code, const std::string& text) {
  return [code, text](TestEndpoint&, httplib::Response& response) {
    response.status = code;
    response.set_content(text, "text/plain");
  };
}

LlmQuestion toy_question(const std::string& url) {
  LlmQuestion question;
  question.view = toy_view();
  question.policy.planner.endpoint = url;
  question.policy.planner.model = "toy-model";
  question.policy.planner.answer_tokens = 1000;
  question.policy.planner.max_retries = 1;
  question.policy.planner.timeout_s = 5;
  question.turn = 1;
  question.reserved_tokens = 2000;
  question.read_file = [](const std::string& path) -> base::Result<std::string> {
    if (path == "src/toy.cc") return std::string("int toy() { return 1; }\n");
    return base::fail(base::ErrorCode::not_found, "there is no " + path);
  };
  question.list_files = [] { return std::vector<std::string>{"bench/toy.cc", "src/toy.cc"}; };
  return question;
}

PlannerAnswered ask(const LlmQuestion& question) {
  auto answered = ask_llm(question,
                          [](const std::string& name) -> std::optional<std::string> {
                            if (name != "NIGHTSHIFT_LLM_KEY") return {};
                            return kFakeKey;
                          },
                          {});
  const std::string key = kFakeKey;
  CHECK(answered.failure.find(key) == std::string::npos);
  std::int64_t tokens = 0;
  for (const auto& turn : answered.transcript) {
    CHECK(turn.text.find(key) == std::string::npos);
    tokens += turn.tokens;
  }
  CHECK(answered.tokens == tokens);
  CHECK(answered.step.has_value() == answered.failure.empty());
  return answered;
}

PlannerAnswered ask(const TestEndpoint& endpoint, const LlmQuestion& question) {
  auto answered = ask(question);
  CHECK(endpoint.requests() <= question.policy.planner.max_retries + 1);
  CHECK(static_cast<int>(answered.transcript.size()) == endpoint.requests());
  for (int i = 0; i < endpoint.requests(); ++i) {
    CHECK(endpoint.authorization(i) == std::string("Bearer ") + kFakeKey);
  }
  return answered;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> messages(const TestEndpoint& endpoint, int nth) {
  std::vector<std::string> list;
  const json request = json::parse(endpoint.body(nth));
  for (const json& message : request.at("messages")) {
    list.push_back(message.at("role").get<std::string>() + ": " +
                   message.at("content").get<std::string>());
  }
  return list;
}

}  // namespace orchestrator

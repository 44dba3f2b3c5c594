// Nights with `planner: llm` against a scripted endpoint on loopback, everything else real.
#include <httplib.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>

#include "orchestrator/night/run_night.h"
#include "store/reader.h"

namespace orchestrator {
namespace {

using hypotheses::MergeState;
using hypotheses::Verdict;
using nlohmann::json;

std::string completion(const std::string& content, const std::string& finish = "stop") {
  return json{
      {"choices",
       {{{"message", {{"role", "assistant"}, {"content", content}}}, {"finish_reason", finish}}}},
      {"usage", {{"total_tokens", 500}}}}
      .dump();
}

// Answers the n-th request by script; counts them.
class Endpoint {
 public:
  using Script = std::function<void(int nth, const httplib::Request&, httplib::Response&)>;
  explicit Endpoint(const Script& script) {
    server_.Post("/v1/chat/completions",
                 [this, script](const httplib::Request& request, httplib::Response& response) {
                   script(++requests_, request, response);
                 });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::jthread([this](std::stop_token) { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();  // a stop before that would be lost
  }
  ~Endpoint() { server_.stop(); }
  std::string policy() const {
    return "max_hypotheses: 3\nplanner: {kind: llm, endpoint: \"http://127.0.0.1:" +
           std::to_string(port_) +
           "\", model: scripted, timeout: 500ms, max_retries: 1, patience: 2, answer_tokens: 1000, "
           "max_tokens: 20000}\n";
  }
  int requests() const { return requests_; }

 private:
  httplib::Server server_;
  std::atomic<int> requests_ = 0;
  int port_ = 0;
  std::jthread thread_;
};

std::int64_t tokens_of(const ToyNight& night) {
  return night.view().nights.begin()->second.spend.tokens;
}

}  // namespace

TEST_CASE("one good patch of the model lands as a branch, is judged, and waits for approval") {
  Endpoint endpoint([](int nth, const httplib::Request& request, httplib::Response& response) {
    CHECK(request.body.find("kernel.sh") != std::string::npos);  // the files are shown
    json step = {{"step", "stop"}, {"reason", "nothing better comes to mind"}};
    if (nth == 1) {
      step = {{"step", "patch"},
              {"claim", "starting from 60 instead of 100 makes it cheaper"},
              {"edits", {{{"path", "kernel.sh"}, {"search", "cost=100"}, {"replace", "cost=60"}}}},
              {"predicts", "toy.cost -40%"}};
    }
    response.set_content(completion(step.dump()), "application/json");
  });
  ToyNight night;
  REQUIRE(night.start());
  REQUIRE(night.create(endpoint.policy(), "llm"));
  REQUIRE(night.run_to_end());
  const auto* h = night.hypothesis("starting from 60");
  REQUIRE(h != nullptr);
  CHECK(h->verdict == Verdict::supported);
  CHECK(h->origin == hypotheses::Origin::llm);
  REQUIRE(night.view().merges.size() == 1);
  const auto& merge = night.view().merges.begin()->second;
  INFO(merge.reason);
  CHECK(merge.state == MergeState::waiting);
  CHECK(endpoint.requests() == 2);
  CHECK(tokens_of(night) == 1000);
  // The candidate is a branch of the mirror, never of the target.
  CHECK(git(night.target.bare, "for-each-ref --format='%(refname)'") == "refs/heads/main\n");
}

TEST_CASE("a refused step goes back to the model with its reason") {
  std::string second_request;
  Endpoint endpoint([&](int nth, const httplib::Request& request, httplib::Response& response) {
    json step = {{"step", "stop"}, {"reason", "done"}};
    if (nth == 1) {
      step = {{"step", "patch"},
              {"claim", "make the probe say less"},
              {"edits", {{{"path", "probes/count.sh"}, {"search", "cost"}, {"replace", "c"}}}},
              {"predicts", "toy.cost -40%"}};
    }
    if (nth == 2) second_request = request.body;
    response.set_content(completion(step.dump()), "application/json");
  });
  ToyNight night;
  REQUIRE(night.start());
  REQUIRE(night.create(endpoint.policy(), "llm"));
  REQUIRE(night.run_to_end());
  CHECK(second_request.find("protected") != std::string::npos);
  CHECK(night.view().hypotheses.empty());
}

TEST_CASE("whatever an endpoint does, the night goes on and the spend is bounded") {
  struct Row {
    std::string name;
    Endpoint::Script script;
    int most_requests;
  };
  auto slow = [](int, const httplib::Request&, httplib::Response& response) {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, std::chrono::seconds(2));
    response.set_content(completion("{}"), "application/json");
  };
  auto say = [](int status, const std::string& body) {
    return [=](int, const httplib::Request&, httplib::Response& response) {
      response.status = status;
      response.set_content(body, "application/json");
    };
  };
  const Row rows[] = {
      {"malformed", say(200, completion("I think {we should: try")), 4},
      {"truncated", say(200, completion("{\"step\": \"knobs\", \"cl", "length")), 4},
      {"cut body", say(200, completion("{}").substr(0, 30)), 4},
      {"empty", say(200, ""), 4},
      {"429", say(429, "{\"error\": \"slow down\"}"), 4},
      {"500", say(500, "oops"), 4},
      {"slow", slow, 4},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    Endpoint endpoint(row.script);
    ToyNight night;
    REQUIRE(night.start());
    REQUIRE(night.create(endpoint.policy(), "llm"));
    REQUIRE(night.run_to_end());
    CHECK(night.view().hypotheses.size() == 3);  // by the built-in planner
    REQUIRE(night.view().merges.size() == 1);
    CHECK(night.view().merges.begin()->second.state == MergeState::waiting);
    CHECK(endpoint.requests() >= 1);
    CHECK(endpoint.requests() <= row.most_requests);  // patience 2, one retry each
    CHECK(tokens_of(night) <= 4 * 1000);
  }
}

TEST_CASE("an absent endpoint leaves the night to the built-in planner, and costs nothing") {
  ToyNight night;
  REQUIRE(night.start());
  REQUIRE(
      night.create("max_hypotheses: 3\nplanner: {kind: llm, endpoint: \"http://127.0.0.1:9\", "
                   "model: none, timeout: 1s, max_retries: 1}\n",
                   "llm"));
  REQUIRE(night.run_to_end());
  CHECK(night.view().hypotheses.size() == 3);
  CHECK(night.view().merges.begin()->second.state == MergeState::waiting);
  CHECK(tokens_of(night) == 0);
}

TEST_CASE("the key of the endpoint is sent to it and stored nowhere") {
  const std::string key = "sk-nightshift-test-0123456789";
  ::setenv("NIGHTSHIFT_TEST_KEY", key.c_str(), 1);
  std::string authorization;
  Endpoint endpoint([&](int, const httplib::Request& request, httplib::Response& response) {
    authorization = request.get_header_value("Authorization");
    response.set_content(completion("your key is " + key), "application/json");
  });
  ToyNight night;
  REQUIRE(night.start());
  std::string policy = endpoint.policy();
  policy.replace(policy.find("model:"), 0, "key_env: NIGHTSHIFT_TEST_KEY, ");
  REQUIRE(night.create(policy, "llm"));
  REQUIRE(night.run_to_end());
  CHECK(authorization == "Bearer " + key);
  night.daemon.reset();
  std::string database =
      git(night.folder.path(), "grep -c --no-index -a -F " + key + " -- state || true");
  INFO(database);
  CHECK(database.find("state/") == std::string::npos);
}

}  // namespace orchestrator

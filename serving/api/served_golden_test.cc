// The reference models behind the whole of the server: file, tokenizer, engine, API, HTTP.
#include <catch2/catch.hpp>
#include <thread>

#include "serving/api/test_client.h"
#include "serving/engine/make_engine.h"
#include "serving/model/load_model.h"
#include "serving/model/test_golden.h"

namespace serving {
namespace {

class ServedModel {
 public:
  explicit ServedModel(const std::string& path) {
    LoadOptions load;
    load.threads = 1;
    load.pages = 256;
    auto loaded = load_model(path, load);
    if (!loaded) FAIL(loaded.error().message);
    engine_ = make_engine(std::move(loaded->model), {});
    tokenizer_ = std::move(loaded->tokenizer);
    api_ = std::make_unique<Api>(*engine_, *tokenizer_, TestServer::default_completions());
    auto started = Listener::start(
        {}, [this](const HttpRequest& request, Reply& reply) { api_->handle(request, reply); });
    if (!started) FAIL(started.error().message);
    listener_ = std::move(*started);
  }
  int port() const { return listener_->port(); }

 private:
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<Listener> listener_;
};

json greedy(const json& prompt, std::size_t tokens) {
  return {{"prompt", prompt},
          {"max_tokens", tokens},
          {"temperature", 0},
          {"ignore_eos", true},
          {"return_token_ids", true}};
}

}  // namespace

TEST_CASE("reference answers over HTTP, all prompts at once") {
  for (const char* name : {"stories260K", "kimi-tiny"}) {
    const auto golden = model::golden(name);
    if (!golden) continue;
    ServedModel served(golden->model);
    std::vector<json> answers(golden->cases.size());
    {
      std::vector<std::jthread> clients;
      for (std::size_t i = 0; i < answers.size(); ++i) {
        clients.emplace_back([&, i] {
          const auto& c = golden->cases[i];
          answers[i] =
              post(served.port(), "/v1/completions", greedy(c.prompt, c.steps.size())).parsed();
        });
      }
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto& c = golden->cases[i];
      INFO(name << ": " << c.prompt << " gave " << answers[i].dump());
      std::vector<Token> expected;
      for (const auto& step : c.steps) expected.push_back(step.greedy);
      const json& choice = answers[i]["choices"][0];
      CHECK(choice["prompt_token_ids"] == c.tokens);
      CHECK(choice["token_ids"] == expected);
      CHECK(choice["finish_reason"] == "length");
    }
  }
}

TEST_CASE("a stream of a real model says what the whole answer says, and a repeat is cached") {
  const auto golden = model::golden("stories260K");
  if (!golden) return;
  ServedModel served(golden->model);
  const std::string prompt =
      "Once upon a time, there was a little girl named Lily. She loved to play";
  json request = greedy(prompt, 40);
  const json whole = post(served.port(), "/v1/completions", request).parsed();
  request["stream"] = true;
  request["stream_options"] = {{"include_usage", true}};
  const auto events = post(served.port(), "/v1/completions", request).events();
  std::string text;
  for (const json& event : events) {
    if (event.is_object() && !event["choices"].empty()) text += event["choices"][0]["text"];
  }
  CHECK(text == whole["choices"][0]["text"]);
  const json& usage = events[events.size() - 2]["usage"];
  CHECK(usage["prompt_tokens"] == whole["usage"]["prompt_tokens"]);
  CHECK(usage["prompt_tokens_details"]["cached_tokens"] > 0);
}

TEST_CASE("a real model held to a schema answers with JSON of that shape") {
  const auto golden = model::golden("stories260K");
  if (!golden) return;
  ServedModel served(golden->model);
  const json schema = {
      {"type", "object"},
      {"properties",
       {{"name", {{"type", "string"}, {"maxLength", 12}}},
        {"tags", {{"type", "array"}, {"items", {{"enum", {"a", "b"}}}}, {"maxItems", 3}}},
        {"old", {{"type", "boolean"}}}}},
      {"required", {"name", "old"}}};
  for (const double temperature : {0.0, 1.0}) {
    const json request = {
        {"messages", {{{"role", "user"}, {"content", "Tell me"}}}},
        {"max_tokens", 200},
        {"temperature", temperature},
        {"seed", 3},
        {"response_format",
         {{"type", "json_schema"}, {"json_schema", {{"name", "n"}, {"schema", schema}}}}}};
    const TestReply reply = post(served.port(), "/v1/chat/completions", request);
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    const json choice = reply.parsed()["choices"][0];
    CHECK(choice["finish_reason"] == "stop");
    const json answer = json::parse(choice["message"]["content"].get<std::string>());
    CHECK(answer["name"].is_string());
    CHECK(answer["old"].is_boolean());
  }
}

}  // namespace serving

// Whole answers over real HTTP.
#include <catch2/catch.hpp>

#include "serving/api/test_client.h"

namespace serving {
namespace {

json completion(const std::string& prompt, int max_tokens) {
  return {{"model", "fake"}, {"prompt", prompt}, {"max_tokens", max_tokens}};
}

std::vector<Token> ids(const std::string& text) {
  return FakeTokenizer().encode(text, true, false);
}

class FakeTrace final : public TraceControl {
 public:
  Status start() override {
    if (on_) return fail(ErrorCode::unavailable, "a trace is under way already");
    on_ = true;
    return {};
  }
  Result<std::string> stop() override {
    if (!on_) return fail(ErrorCode::unavailable, "no trace is under way");
    on_ = false;
    return "trace.json";
  }

 private:
  bool on_ = false;
};

}  // namespace

TEST_CASE("a completion is answered whole, with its usage") {
  FakeEngineOptions options = reply_of("the end");
  options.cached_tokens = 2;
  TestServer server(options);
  const TestReply reply = post(server.port(), "/v1/completions", completion("abc", 100));
  REQUIRE(reply.status == 200);
  CHECK(reply.type == "application/json");
  const json body = reply.parsed();
  CHECK(body["object"] == "text_completion");
  CHECK(body["model"] == "fake");
  CHECK(body["created"] == 1'700'000'000);
  CHECK(body["choices"].size() == 1);
  CHECK(body["choices"][0]["text"] == "the end");
  CHECK(body["choices"][0]["finish_reason"] == "stop");
  CHECK(body["choices"][0]["logprobs"].is_null());
  CHECK_FALSE(body["choices"][0].contains("token_ids"));
  const auto answer = ids("the end").size(), prompt = ids("abc").size() + 1;  // and bos
  CHECK(body["usage"] == json({{"prompt_tokens", prompt},
                               {"completion_tokens", answer},
                               {"total_tokens", prompt + answer},
                               {"prompt_tokens_details", {{"cached_tokens", 2}}}}));
}

TEST_CASE("max_tokens ends an answer with length, 16 where it is not said") {
  TestServer server(reply_of("a text of more than sixteen bytes"));
  auto body = post(server.port(), "/v1/completions", completion("x", 5)).parsed();
  CHECK(body["choices"][0]["finish_reason"] == "length");
  CHECK(body["usage"]["completion_tokens"] == 5);
  body = post(server.port(), "/v1/completions", {{"prompt", "x"}}).parsed();
  CHECK(body["usage"]["completion_tokens"] == 16);
}

TEST_CASE("stop strings are cut off, also across tokens, and end the engine's work") {
  TestServer server(reply_of("one\ntwo END three"));
  json request = completion("x", 100);
  request["stop"] = {"END", "missing"};
  const json body = post(server.port(), "/v1/completions", request).parsed();
  CHECK(body["choices"][0]["text"] == "one\ntwo ");
  CHECK(body["choices"][0]["finish_reason"] == "stop");
  CHECK(body["usage"]["completion_tokens"] == ids("one\ntwo END").size());
  CHECK(eventually([&] { return server.engine().stats().running == 0; }));
}

TEST_CASE("what the engine is asked") {
  TestServer server;
  json request = completion("a<|im_end|>", 9);
  request.update(
      {{"temperature", 0}, {"top_p", 0.5}, {"top_k", 3}, {"seed", 42}, {"ignore_eos", true}});
  REQUIRE(post(server.port(), "/v1/completions", request).status == 200);
  const Request asked = server.engine().last_request();
  CHECK(asked.prompt == std::vector<Token>{FakeTokenizer::kBos, 'a', FakeTokenizer::kImEnd});
  CHECK(asked.max_tokens == 9);
  CHECK(asked.sampling.temperature == 0);
  CHECK(asked.sampling.top_p == 0.5f);
  CHECK(asked.sampling.top_k == 3);
  CHECK(asked.sampling.seed == 42);
  CHECK(asked.sampling.top_logprobs == -1);
  CHECK(asked.ignore_eos);
  CHECK(asked.end_tokens == std::vector<Token>{FakeTokenizer::kEos});

  post(server.port(), "/v1/completions", completion("a", 1));
  const auto first = server.engine().last_request().sampling.seed;
  post(server.port(), "/v1/completions", completion("a", 1));
  CHECK(server.engine().last_request().sampling.seed != first);
}

TEST_CASE("prompts as token ids, and several of them") {
  TestServer server;
  json request = {{"prompt", {{97, 98}, {99}}}, {"max_tokens", 2}, {"return_token_ids", true}};
  json body = post(server.port(), "/v1/completions", request).parsed();
  REQUIRE(body["choices"].size() == 2);
  CHECK(body["choices"][0]["text"] == "ab");
  CHECK(body["choices"][0]["token_ids"] == json({97, 98}));
  CHECK(body["choices"][0]["prompt_token_ids"] == json({97, 98}));
  CHECK(body["choices"][1]["index"] == 1);
  CHECK(body["choices"][1]["text"] == "cc");
  CHECK(body["usage"]["prompt_tokens"] == 3);
  CHECK(body["usage"]["completion_tokens"] == 4);
  request["prompt"] = {97};
  CHECK(post(server.port(), "/v1/completions", request).parsed()["choices"][0]["text"] == "aa");
  request["prompt"] = {"a", "b"};
  body = post(server.port(), "/v1/completions", request).parsed();
  CHECK(body["choices"][1]["prompt_token_ids"] == json({FakeTokenizer::kBos, 'b'}));
}

TEST_CASE("log-probabilities in both shapes") {
  TestServer server(reply_of("the\xc3\xa9"));
  json request = completion("x", 10);
  request["logprobs"] = 2;
  json logprobs =
      post(server.port(), "/v1/completions", request).parsed()["choices"][0]["logprobs"];
  CHECK(logprobs["tokens"][0] == "the");
  CHECK(logprobs["tokens"].size() == 3);
  CHECK(logprobs["token_logprobs"][0] == -0.5);
  CHECK(logprobs["top_logprobs"][0]["the"] == -0.5);
  CHECK(logprobs["text_offset"] == json({0, 3, 4}));

  const json chat = {{"messages", {{{"role", "user"}, {"content", "x"}}}},
                     {"logprobs", true},
                     {"top_logprobs", 1}};
  logprobs = post(server.port(), "/v1/chat/completions", chat).parsed()["choices"][0]["logprobs"];
  CHECK(logprobs["content"][0]["token"] == "the");
  CHECK(logprobs["content"][0]["bytes"] == json({'t', 'h', 'e'}));
  CHECK(logprobs["content"][0]["top_logprobs"].size() == 1);
  CHECK(logprobs["content"][1]["bytes"] == json({0xc3}));
}

TEST_CASE("chat: the template, its end of turn, and room for the answer") {
  TestServer server(reply_of("Hello<|im_end|> not shown"), {}, [] {
    CompletionOptions options = TestServer::default_completions();
    options.chat_format = ChatFormat::chatml;
    return options;
  }());
  const json request = {{"messages", {{{"role", "user"}, {"content", "Hi"}}}},
                        {"return_token_ids", true}};
  const json body = post(server.port(), "/v1/chat/completions", request).parsed();
  CHECK(body["object"] == "chat.completion");
  CHECK(body["choices"][0]["message"]["role"] == "assistant");
  CHECK(body["choices"][0]["message"]["content"] == "Hello");
  CHECK(body["choices"][0]["finish_reason"] == "stop");
  CHECK(body["choices"][0]["token_ids"] == ids("Hello"));
  const Request asked = server.engine().last_request();
  CHECK(body["prompt_token_ids"] == asked.prompt);
  CHECK(asked.prompt[1] == FakeTokenizer::kImStart);
  CHECK(asked.max_tokens == 4096 - static_cast<int>(asked.prompt.size()));
}

TEST_CASE("a template without known marks is an error of chat alone") {
  FakeTokenizer tokenizer;
  tokenizer.set_chat_template("{{ '### Instruction' }}");
  FakeEngine engine;
  Api api(engine, tokenizer, TestServer::default_completions());
  auto listener = Listener::start(
      {}, [&](const HttpRequest& request, Reply& reply) { api.handle(request, reply); });
  const int port = (*listener)->port();
  const json chat = {{"messages", {{{"role", "user"}, {"content", "x"}}}}};
  const TestReply reply = post(port, "/v1/chat/completions", chat);
  CHECK(reply.status == 400);
  CHECK_THAT(reply.body, Catch::Contains("--chat-template NAME"));
  CHECK(post(port, "/v1/completions", completion("a", 1)).status == 200);
}

TEST_CASE("a response format makes answers that parse, and running out of tokens is length") {
  TestServer server;
  const json schema = {
      {"type", "object"}, {"properties", {{"ok", {{"type", "boolean"}}}}}, {"required", {"ok"}}};
  json request = {
      {"messages", {{{"role", "user"}, {"content", "x"}}}},
      {"max_tokens", 300},
      {"seed", 5},
      {"response_format",
       {{"type", "json_schema"}, {"json_schema", {{"name", "n"}, {"schema", schema}}}}}};
  for (int seed = 0; seed < 5; ++seed) {
    request["seed"] = seed;
    const json choice = post(server.port(), "/v1/chat/completions", request).parsed()["choices"][0];
    CHECK(choice["finish_reason"] == "stop");
    CHECK(json::parse(choice["message"]["content"].get<std::string>())["ok"].is_boolean());
  }
  request["max_tokens"] = 4;
  const json choice = post(server.port(), "/v1/chat/completions", request).parsed()["choices"][0];
  CHECK(choice["finish_reason"] == "length");

  request["response_format"]["json_schema"]["schema"] = {{"type", "string"}, {"pattern", "a"}};
  const TestReply refused = post(server.port(), "/v1/chat/completions", request);
  CHECK(refused.status == 400);
  CHECK(refused.parsed()["error"]["param"] == "response_format");
  CHECK_THAT(refused.body, Catch::Contains("pattern"));
}

TEST_CASE("errors have OpenAI's shape") {
  FakeEngineOptions options;
  options.context = 20;
  TestServer server(options);
  const auto error = [&](const json& body, int status) {
    const TestReply reply = post(server.port(), "/v1/completions", body);
    CHECK(reply.status == status);
    CHECK(reply.type == "application/json");
    return reply.parsed()["error"];
  };
  json found = error({{"prompt", "a"}, {"nonsense", 1}}, 400);
  CHECK(found["type"] == "invalid_request_error");
  CHECK(found["param"] == "nonsense");
  CHECK(found["code"] == "unknown_field");
  found = error({{"prompt", "a"}, {"model", "gpt"}}, 404);
  CHECK(found["code"] == "model_not_found");
  found = error({{"prompt", "a"}, {"max_tokens", 20}}, 400);
  CHECK(found["code"] == "context_length_exceeded");
  found = error({{"prompt", std::string(20, 'x')}}, 400);
  CHECK(found["code"] == "context_length_exceeded");
  found = error({{"prompt", std::string(100'000, 'x')}}, 400);
  CHECK(found["code"] == "context_length_exceeded");
  const json talk = {{"messages", {{{"role", "user"}, {"content", std::string(100'000, 'x')}}}}};
  CHECK_THAT(post(server.port(), "/v1/chat/completions", talk).body, Catch::Contains("cannot fit"));
  found = error({{"prompt", {5000}}}, 400);
  CHECK_THAT(found["message"].get<std::string>(), Catch::Contains("token 5000"));
}

TEST_CASE("an engine that fails, or is full, is an error and not an answer") {
  FakeEngineOptions failing;
  failing.fails_after = 0;
  CHECK(post(TestServer(failing).port(), "/v1/completions", completion("a", 5)).status == 500);
  FakeEngineOptions full;
  full.queue = 0;
  const TestReply reply = post(TestServer(full).port(), "/v1/completions", completion("a", 5));
  CHECK(reply.status == 503);
  CHECK(reply.retry_after == "1");
  CHECK(reply.parsed()["error"]["type"] == "overloaded_error");
}

TEST_CASE("the other routes") {
  FakeTrace trace;
  TestServer server({}, {}, TestServer::default_completions(), &trace);
  const int port = server.port();
  CHECK(get(port, "/health").status == 200);
  const json models = get(port, "/v1/models").parsed();
  CHECK(models["object"] == "list");
  CHECK(models["data"][0]["id"] == "fake");
  CHECK(models["data"][0]["max_model_len"] == 4096);
  CHECK(get(port, "/v1/completions").status == 405);
  CHECK(get(port, "/nowhere").status == 404);
  CHECK_THAT(get(port, "/nowhere").body, Catch::Contains("/v1/chat/completions"));

  CHECK(post_text(port, "/trace/stop", "").status == 503);
  CHECK(post_text(port, "/trace/start", "").parsed()["tracing"] == true);
  CHECK(post_text(port, "/trace/start", "").status == 503);
  CHECK(post_text(port, "/trace/stop", "").parsed()["file"] == "trace.json");
  CHECK(post_text(TestServer().port(), "/trace/start", "").status == 501);
}

TEST_CASE("metrics count what happened") {
  TestServer server(reply_of("the end"));
  post(server.port(), "/v1/completions", completion("abc", 100));
  post(server.port(), "/v1/completions", completion("abc", 100));
  post(server.port(), "/v1/completions", {{"prompt", 5}});
  CHECK_THAT(get(server.port(), "/metrics").type, Catch::Contains("text/plain; version=0.0.4"));
  for (const char* line :
       {"nightshift_requests_total 2\n", "nightshift_http_completions_total{result=\"ok\"} 2\n",
        "nightshift_http_completions_total{result=\"refused\"} 1\n",
        "nightshift_request_seconds_count 2\n",
        "nightshift_request_seconds_bucket{le=\"+Inf\"} 2\n",
        "# TYPE nightshift_time_to_first_token_seconds histogram\n"}) {
    INFO(line);
    CHECK(eventually_shows(server, line));
  }
}

}  // namespace serving

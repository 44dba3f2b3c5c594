// Streamed answers over real HTTP.
#include <catch2/catch.hpp>

#include "serving/api/test_client.h"

namespace serving {
namespace {

json streamed(const std::string& prompt, int max_tokens) {
  return {{"prompt", prompt}, {"max_tokens", max_tokens}, {"stream", true}};
}

std::string text_of(const std::vector<json>& events) {
  std::string text;
  for (const json& event : events) {
    if (!event.is_object()) continue;
    for (const json& choice : event["choices"]) text += choice.value("text", "");
  }
  return text;
}

}  // namespace

TEST_CASE("a stream carries the same text as the whole answer, then [DONE]") {
  TestServer server(reply_of("the \xc3\xa9nd of \xf0\x9f\x98\x80ing"));
  const TestReply reply = post(server.port(), "/v1/completions", streamed("x", 100));
  REQUIRE(reply.status == 200);
  CHECK(reply.type == "text/event-stream");
  const auto events = reply.events();
  CHECK(events.back() == "[DONE]");
  CHECK(text_of(events) == "the \xc3\xa9nd of \xf0\x9f\x98\x80ing");
  const json& last = events[events.size() - 2];
  CHECK(last["choices"][0]["finish_reason"] == "stop");
  CHECK(events[0]["choices"][0]["finish_reason"].is_null());
  CHECK(events[0]["id"] == last["id"]);
  CHECK_FALSE(events[0].contains("usage"));
}

TEST_CASE("the usage comes in a chunk of its own where it was asked for") {
  TestServer server(reply_of("abcabc"));
  json request = streamed("x", 100);
  request["stream_options"] = {{"include_usage", true}};
  const auto events = post(server.port(), "/v1/completions", request).events();
  CHECK(events[0]["usage"].is_null());
  const json& usage = events[events.size() - 2];
  CHECK(usage["choices"].empty());
  CHECK(usage["usage"]["completion_tokens"] == 4);
  CHECK(usage["usage"]["prompt_tokens"] == 2);
}

TEST_CASE("a stop string is never shown, not even in part") {
  TestServer server(reply_of("say theSTOP again"));
  json request = streamed("x", 100);
  request["stop"] = "STOP";
  const auto events = post(server.port(), "/v1/completions", request).events();
  CHECK(text_of(events) == "say the");
  CHECK(events[events.size() - 2]["choices"][0]["finish_reason"] == "stop");
  for (const json& event : events) CHECK_THAT(event.dump(), !Catch::Contains("ST"));
}

TEST_CASE("chat chunks begin with the role and end with the reason") {
  TestServer server(reply_of("Hey"));
  const json request = {{"messages", {{{"role", "user"}, {"content", "x"}}}}, {"stream", true}};
  const auto events = post(server.port(), "/v1/chat/completions", request).events();
  CHECK(events[0]["object"] == "chat.completion.chunk");
  CHECK(events[0]["choices"][0]["delta"]["role"] == "assistant");
  CHECK_FALSE(events[1]["choices"][0]["delta"].contains("role"));
  std::string text;
  for (const json& event : events) {
    if (event.is_object()) text += event["choices"][0]["delta"].value("content", "");
  }
  CHECK(text == "Hey");
  CHECK(events[events.size() - 2]["choices"][0]["finish_reason"] == "stop");
}

TEST_CASE("token ids and log-probabilities come with each chunk, text or not") {
  TestServer server(reply_of("\xc3\xa9x"));
  json request = streamed("a", 100);
  request["return_token_ids"] = true;
  request["logprobs"] = 1;
  const auto events = post(server.port(), "/v1/completions", request).events();
  CHECK(events[0]["choices"][0]["token_ids"] == json({0xc3}));
  CHECK(events[0]["choices"][0]["text"] == "");
  CHECK(events[0]["choices"][0]["prompt_token_ids"] == json({FakeTokenizer::kBos, 'a'}));
  CHECK(events[1]["choices"][0]["text"] == "\xc3\xa9");
  CHECK_FALSE(events[1]["choices"][0].contains("prompt_token_ids"));
  CHECK(events[2]["choices"][0]["logprobs"]["text_offset"] == json({2}));
}

TEST_CASE("several prompts stream side by side, told apart by index") {
  FakeEngineOptions options;
  options.token_delay = std::chrono::milliseconds(3);
  TestServer server(options);
  json request = {{"prompt", {{97}, {98}}}, {"max_tokens", 10}, {"stream", true}};
  const auto events = post(server.port(), "/v1/completions", request).events();
  std::string texts[2];
  int turns = 0;
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    const json& choice = events[i]["choices"][0];
    texts[choice["index"].get<std::size_t>()] += choice["text"];
    turns += i > 0 && choice["index"] != events[i - 1]["choices"][0]["index"];
  }
  CHECK(texts[0] == std::string(10, 'a'));
  CHECK(texts[1] == std::string(10, 'b'));
  CHECK(turns > 5);
}

TEST_CASE("a failure before the first token is an HTTP error, after it an event") {
  FakeEngineOptions options;
  options.fails_after = 0;
  CHECK(post(TestServer(options).port(), "/v1/completions", streamed("x", 5)).status == 500);
  options.fails_after = 2;
  const TestReply reply = post(TestServer(options).port(), "/v1/completions", streamed("x", 5));
  CHECK(reply.status == 200);
  const auto events = reply.events();
  CHECK(events.back()["error"]["type"] == "server_error");
}

TEST_CASE("the first token is sent when it comes, not when the answer is whole") {
  FakeEngineOptions options;
  options.token_delay = std::chrono::milliseconds(150);
  TestServer server(options);
  RawClient client(server.port());
  const auto begin = std::chrono::steady_clock::now();
  client.send(raw_post("/v1/completions", streamed("x", 20).dump()));
  const std::string first = client.receive(std::chrono::seconds(3), "\n\n");
  CHECK_THAT(first, Catch::Contains("data: {"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1500));
}

}  // namespace serving

// What bodies are taken and what is refused, with the field's name.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "serving/api/completion_call.h"

namespace serving {
namespace {

struct Refused {
  Endpoint endpoint;
  std::string body, param, message;
};

std::string text_with(const std::string& field) { return R"({"prompt": "a", )" + field + "}"; }
std::string chat_with(const std::string& field) {
  return R"({"messages": [{"role": "user", "content": "a"}], )" + field + "}";
}
std::string message(const std::string& text) { return R"({"messages": [)" + text + "]}"; }

constexpr Endpoint kText = Endpoint::completions, kChat = Endpoint::chat;

const std::vector<Refused>& refused() {
  static const std::vector<Refused> kCases = {
      {kText, "", "", "not valid JSON"},
      {kText, "{", "", "not valid JSON"},
      {kText, "[]", "", "must be a JSON object"},
      {kText, "{\"prompt\": \"\xff\"}", "", "not valid JSON"},
      {kText, text_with("\"temperature\": 1e999"), "", "not valid JSON"},
      {kText, "{}", "prompt", "is missing"},
      {kText, R"({"prompt": {}})", "prompt", "must be a text"},
      {kText, R"({"prompt": []})", "prompt", "must be a text"},
      {kText, R"({"prompt": [1, "a"]})", "prompt", "must be a text"},
      {kText, R"({"prompt": [-1]})", "prompt", "must be a text"},
      {kText, R"({"prompt": [1.5]})", "prompt", "must be a text"},
      {kText, R"({"prompt": [4294967296]})", "prompt", "must be a text"},
      {kText, R"({"prompt": [[]]})", "prompt", "must be a text"},
      {kText, text_with("\"max_tokens\": 0"), "max_tokens", "from 1 to"},
      {kText, text_with("\"max_tokens\": \"5\""), "max_tokens", "must be an integer"},
      {kText, text_with("\"max_tokens\": 18446744073709551615"), "max_tokens", "integer"},
      {kText, text_with("\"temperature\": -0.1"), "temperature", "from 0 to 2"},
      {kText, text_with("\"temperature\": true"), "temperature", "must be a number"},
      {kText, text_with("\"top_p\": 0"), "top_p", "more than 0"},
      {kText, text_with("\"top_p\": 1.1"), "top_p", "from 0 to 1"},
      {kText, text_with("\"n\": 2"), "n", "not supported"},
      {kText, text_with("\"best_of\": 2"), "best_of", "not supported"},
      {kText, text_with("\"echo\": true"), "echo", "not supported"},
      {kText, text_with("\"presence_penalty\": 0.5"), "presence_penalty", "not supported"},
      {kText, text_with("\"logit_bias\": {\"5\": 1}"), "logit_bias", "not supported"},
      {kText, text_with("\"stream\": 1"), "stream", "true or false"},
      {kText, text_with("\"stream_options\": {}"), "stream_options", "needs \"stream\": true"},
      {kText, text_with("\"stream\": true, \"stream_options\": {\"x\": 1}"), "stream_options.x",
       "unknown field"},
      {kText, text_with("\"stop\": [\"\"]"), "stop", "none empty"},
      {kText, text_with("\"stop\": 3"), "stop", "must be a string"},
      {kText, text_with("\"logprobs\": 21"), "logprobs", "from 0 to 20"},
      {kText, text_with("\"mirostat\": 2"), "mirostat", "unknown field 'mirostat'"},
      {kText, text_with("\"messages\": []"), "messages", "unknown field"},
      {kText, text_with("\"response_format\": {\"type\": \"xml\"}"), "response_format.type",
       "json_schema"},
      {kText, text_with("\"response_format\": {\"type\": \"json_schema\"}"),
       "response_format.json_schema", "is missing"},
      {kText, text_with("\"response_format\": 5"), "response_format", "must be an object"},
      {kChat, "{}", "messages", "at least one"},
      {kChat, message(""), "messages", "at least one"},
      {kChat, message("5"), "messages.0", "must be an object"},
      {kChat, message(R"({"role": "tool", "content": ""})"), "messages.0.role", "must be system"},
      {kChat, message(R"({"role": "user"})"), "messages.0.content", "is missing"},
      {kChat, message(R"({"role": "user", "content": [{"type": "image_url"}]})"),
       "messages.0.content", "may hold only parts"},
      {kChat, message(R"({"role": "user", "content": "", "x": 1})"), "messages.0.x", "unknown"},
      {kChat, chat_with("\"prompt\": \"a\""), "prompt", "unknown field"},
      {kChat, chat_with("\"logprobs\": 1"), "logprobs", "true or false"},
      {kChat, chat_with("\"top_logprobs\": 3"), "top_logprobs", "needs \"logprobs\""},
      {kChat, chat_with("\"tools\": [{}]"), "tools", "not supported"},
      {kChat, chat_with("\"max_completion_tokens\": -1"), "max_completion_tokens", "from 1"},
  };
  return kCases;
}

}  // namespace

TEST_CASE("bodies that are refused name the field") {
  for (const Refused& c : refused()) {
    INFO(c.body);
    const auto call = parse_call(c.endpoint, c.body);
    REQUIRE_FALSE(call);
    CHECK(call.error().status == 400);
    CHECK(call.error().param == c.param);
    CHECK_THAT(call.error().message, Catch::Contains(c.message));
  }
}

TEST_CASE("bodies that would be costly to parse are refused before") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  CHECK_THAT(parse_call(kText, deep).error().message, Catch::Contains("nested deeper"));
  std::string wide = "{\"a0\": 0";
  for (int i = 1; i < 600; ++i) wide += ", \"a" + std::to_string(i) + "\": 0";
  CHECK_THAT(parse_call(kText, wide + "}").error().message, Catch::Contains("more than 512"));
  std::string tokens = "1";
  for (int i = 1; i < 5000; ++i) tokens += ",1";
  const auto call = parse_call(kText, "{\"prompt\": [" + tokens + "]}");
  REQUIRE(call);
  CHECK(std::get<std::vector<Token>>(call->prompts[0]).size() == 5000);
}

TEST_CASE("a full body of completions is understood") {
  const auto call = parse_call(kText, R"({"model": "m", "prompt": ["a", [1, 2]], "max_tokens": 7,
      "temperature": 0.5, "top_p": 0.9, "top_k": 40, "seed": -1, "stop": "\n", "stream": true,
      "stream_options": {"include_usage": true}, "logprobs": 3, "ignore_eos": true,
      "return_token_ids": true, "user": "u", "n": 1, "echo": false, "logit_bias": null,
      "repetition_penalty": 1.0, "presence_penalty": 0.0, "metadata": {"a": "b"}})");
  if (!call) FAIL(call.error().message);
  CHECK(call->prompts.size() == 2);
  CHECK(call->max_tokens == 7);
  CHECK(call->sampling.temperature == 0.5f);
  CHECK(call->sampling.top_p == 0.9f);
  CHECK(call->sampling.top_k == 40);
  CHECK(call->sampling.top_logprobs == 3);
  CHECK(call->seed == ~std::uint64_t{0});
  CHECK(call->stop == std::vector<std::string>{"\n"});
  CHECK((call->stream && call->include_usage && call->ignore_eos && call->return_token_ids));
}

TEST_CASE("a full body of chat is understood") {
  const auto call = parse_call(kChat, R"({"messages": [{"role": "developer", "content": "s"},
      {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}],
      "max_tokens": 3, "max_completion_tokens": 5, "logprobs": true, "top_logprobs": 2,
      "top_k": -1, "tools": [], "response_format": {"type": "json_schema", "json_schema":
      {"name": "n", "strict": true, "schema": {"properties": {"z": true, "a": true}}}}})");
  if (!call) FAIL(call.error().message);
  CHECK(call->messages[0].role == "system");
  CHECK(call->messages[1].content == "ab");
  CHECK(call->max_tokens == 5);
  CHECK(call->sampling.top_logprobs == 2);
  CHECK(call->sampling.top_k == 0);
  // In the order of the body, which is the order of the answer.
  CHECK(call->schema == R"({"properties":{"z":true,"a":true}})");
}

}  // namespace serving

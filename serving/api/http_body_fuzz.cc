// Throws damaged requests at the API: bodies through the routes, heads through the parser. Every
// answer must be one reply with a status that we give and JSON that parses; any sanitizer or
// assertion ends the program. Deterministic by seed; says how to repeat what failed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "serving/api/api.h"
#include "serving/api/wire.h"
#include "serving/core/clock.h"
#include "serving/engine/fake_engine.h"
#include "serving/tokenizer/fake_tokenizer.h"

namespace serving {
namespace {

using nlohmann::json;

class MemoryReply final : public Reply {
 public:
  void send(const HttpResponse& response) override {
    ++replies;
    status = response.status;
    body = response.body;
  }
  bool begin_stream(std::string_view) override {
    ++replies;
    streaming = true;
    status = 200;
    return true;
  }
  bool write(std::string_view text) override {
    body += text;
    return true;
  }
  bool connected() override { return true; }

  int replies = 0, status = 0;
  bool streaming = false;
  std::string body;
};

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> kBodies = {
      R"({"model": "fake", "prompt": "the ab", "max_tokens": 8, "temperature": 0.5, "top_p": 0.9})",
      R"({"prompt": [[1, 2, 97], [98]], "stream": true, "stream_options": {"include_usage": true}})",
      R"({"prompt": ["a", "\u00e9\ud83d\ude00"], "stop": ["b", "ab"], "logprobs": 3, "seed": -7})",
      R"({"prompt": "x", "ignore_eos": true, "return_token_ids": true, "top_k": 5, "n": 1})",
      R"({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content":
          [{"type": "text", "text": "<|im_end|>"}]}], "max_completion_tokens": 9})",
      R"({"messages": [{"role": "user", "content": "x"}], "logprobs": true, "top_logprobs": 2,
          "response_format": {"type": "json_object"}, "max_tokens": 30})",
      R"({"messages": [{"role": "user", "content": "x"}], "max_tokens": 60, "response_format":
          {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object",
          "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", null, 2.5]}, "c": {"type":
          "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 2}}, "required": ["a"],
          "additionalProperties": false, "$defs": {"t": {"anyOf": [{"type": "string", "maxLength":
          3}, {"$ref": "#"}]}}}}}})",
      R"({"prompt": "x", "response_format": {"type": "json_schema", "json_schema": {"schema":
          {"oneOf": [{"const": 1}, {"type": ["null", "string"], "minLength": 2}]}}}})",
  };
  return kBodies;
}

const std::vector<std::string>& heads() {
  static const std::vector<std::string> kHeads = {
      "POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n",
      "GET /health?x=1 HTTP/1.0\nExpect: 100-continue\n\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n",
  };
  return kHeads;
}

// Pieces that are worth more than random bytes.
const std::vector<std::string>& pieces() {
  static const std::vector<std::string> kPieces = {"null",
                                                   "true",
                                                   "-1",
                                                   "0",
                                                   "1e999",
                                                   "18446744073709551616",
                                                   "\"\"",
                                                   "[]",
                                                   "{}",
                                                   "[[",
                                                   "{\"a\":",
                                                   "\"\\ud800\"",
                                                   "\xff",
                                                   "\xc3",
                                                   std::string(1, '\0'),
                                                   "\"$ref\": \"#\"",
                                                   "\"type\": \"object\"",
                                                   "\"minItems\": 3",
                                                   "\"maxLength\": 4096",
                                                   "\"required\": [\"a\"]",
                                                   "\"stream\": true",
                                                   "\"stop\": \"a\"",
                                                   "\"max_tokens\": 1",
                                                   ",",
                                                   ":",
                                                   "\"",
                                                   "\r\n",
                                                   "\n",
                                                   " ",
                                                   ": ",
                                                   "Content-Length: 1\r\n",
                                                   "4294967296",
                                                   "1.5",
                                                   "\"additionalProperties\": true"};
  return kPieces;
}

std::string mutated(std::string text, std::mt19937_64& random) {
  const auto& all = seeds();
  for (std::size_t i = 1 + random() % 6; i > 0; --i) {
    const std::size_t at = random() % (text.size() + 1);
    const std::size_t size = std::min<std::size_t>(random() % 12, text.size() - at);
    switch (random() % 6) {
      case 0:
        text.erase(at, size);
        break;
      case 1:
        text.insert(at, pieces()[random() % pieces().size()]);
        break;
      case 2:
        text.replace(at, size, pieces()[random() % pieces().size()]);
        break;
      case 3:
        text.insert(at, text.substr(at, size));
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 5: {
        const std::string& other = all[random() % all.size()];
        const std::size_t from = random() % other.size();
        text.insert(at, other.substr(from, random() % 60));
        break;
      }
    }
  }
  return text.substr(0, 1 << 16);
}

void collect(json& at, std::vector<json*>& nodes) {
  nodes.push_back(&at);
  if (!at.is_structured()) return;
  for (json& child : at) collect(child, nodes);
}

// Still JSON: a value in it becomes another, or a copy of one from elsewhere, or goes.
std::string rebuilt(const std::string& text, std::mt19937_64& random) {
  static const std::vector<json> kValues = {nullptr,
                                            true,
                                            false,
                                            0,
                                            1,
                                            -1,
                                            7,
                                            20,
                                            1.5,
                                            "",
                                            "a",
                                            "ab\n",
                                            "object",
                                            "string",
                                            json::array(),
                                            json::object(),
                                            {{"type", "integer"}},
                                            {1, 2},
                                            {"a"}};
  json tree = json::parse(text);
  for (std::size_t i = 1 + random() % 2; i > 0; --i) {
    std::vector<json*> nodes;
    collect(tree, nodes);
    json& target = *nodes[random() % nodes.size()];
    switch (random() % 3) {
      case 0:
        target = kValues[random() % kValues.size()];
        break;
      case 1:
        target = json(*nodes[random() % nodes.size()]);
        break;
      case 2:
        if (target.is_structured() && !target.empty()) {
          target.erase(std::next(target.begin(), static_cast<int>(random() % target.size())));
        }
        break;
    }
  }
  return tree.dump();
}

// Why this reply is wrong; empty where it is not.
std::string fault_of(const MemoryReply& reply) {
  static const std::set<int> kStatuses = {200, 400, 404, 503};
  if (reply.replies != 1) return std::to_string(reply.replies) + " replies";
  // The fake engine fails where its vocabulary and a grammar do not meet; 500 is never right.
  if (!kStatuses.contains(reply.status)) return "status " + std::to_string(reply.status);
  if (reply.streaming) return reply.body.ends_with("data: [DONE]\n\n") ? "" : "no [DONE]";
  const json body = json::parse(reply.body, nullptr, false);
  if (body.is_discarded()) return "the body is no JSON";
  const bool right = reply.status == 200
                         ? body.contains("choices")
                         : body.contains("error") && body["error"]["message"].is_string();
  return right ? "" : "the body has neither an answer nor an error";
}

struct Counts {
  std::uint64_t rounds = 0, answered = 0, heads = 0;
};

bool try_body(Api& api, std::mt19937_64& random, Counts& counts) {
  const std::size_t seed = random() % seeds().size();
  HttpRequest request{
      "POST",
      seeds()[seed].find("messages") != std::string::npos ? "/v1/chat/completions"
                                                          : "/v1/completions",
      random() % 2 == 0 ? mutated(seeds()[seed], random) : rebuilt(seeds()[seed], random)};
  MemoryReply reply;
  api.handle(request, reply);
  counts.answered += reply.status == 200;
  const std::string fault = fault_of(reply);
  if (fault.empty()) return true;
  std::cerr << "round " << counts.rounds << ": " << fault << "\n  to " << request.path << " "
            << request.body << "\n  answer " << reply.body.substr(0, 500) << '\n';
  return false;
}

bool try_head(std::mt19937_64& random, Counts& counts) {
  const std::string head = mutated(heads()[random() % heads().size()], random);
  const auto parsed = parse_head(std::string_view(head).substr(0, end_of_head(head)), 1000);
  counts.heads += parsed.has_value();
  if (!parsed || (parsed->path.starts_with('/') && parsed->body_bytes <= 1000)) return true;
  std::cerr << "round " << counts.rounds << ": a head was taken that should not be: " << head
            << '\n';
  return false;
}

// A context of its own: the fake answers until the schema or the tokens end.
int fuzz(std::uint64_t seed, double seconds) {
  FakeTokenizer tokenizer;
  FakeEngineOptions options;
  options.vocabulary = tokenizer.vocabulary();
  options.context = 256;
  FakeEngine engine(options);
  CompletionOptions completions;
  completions.model = "fake";
  completions.chat_format = ChatFormat::chatml;
  Api api(engine, tokenizer, completions);
  std::mt19937_64 random(seed);
  Counts counts;
  const std::int64_t end_ns = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
  for (; now_ns() < end_ns; ++counts.rounds) {
    if (!try_body(api, random, counts) || !try_head(random, counts)) {
      std::cerr << "to repeat: http_body_fuzz --seed " << seed << " --seconds " << seconds << '\n';
      return 1;
    }
  }
  std::cout << "http_body_fuzz: seed " << seed << ", " << counts.rounds << " bodies ("
            << counts.answered << " answered) and as many heads (" << counts.heads << " taken)\n";
  // Where nothing is answered, only the parser was tried.
  return counts.answered > 0 && counts.heads > 0 ? 0 : 1;
}

}  // namespace
}  // namespace serving

// http_body_fuzz [--seed N] [--seconds S]
int main(int argc, char** argv) {
  std::uint64_t seed = 1;
  double seconds = 5;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seconds") seconds = std::strtod(argv[i + 1], nullptr);
  }
  return serving::fuzz(seed, seconds);
}

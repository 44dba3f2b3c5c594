#include "serving/bench/client.h"

#include <httplib.h>

#include <array>
#include <nlohmann/json.hpp>

#include "serving/bench/sse_reader.h"
#include "serving/core/clock.h"

namespace serving::bench {
namespace {

using nlohmann::json;

// Common words of about a token each; equal tokens become equal words, so shared prefixes stay
// shared.
constexpr std::array<const char*, 32> kWords = {
    "time",    "year",    "people",   "way",    "day",    "man",    "thing",   "woman",
    "life",    "child",   "world",    "school", "state",  "family", "student", "group",
    "country", "problem", "hand",     "part",   "place",  "case",   "week",    "company",
    "system",  "program", "question", "work",   "number", "night",  "point",   "home"};

std::string words(const std::vector<Token>& tokens) {
  std::string text;
  for (Token token : tokens) {
    text += (text.empty() ? "" : " ");
    text += kWords[static_cast<std::size_t>(token) % kWords.size()];
  }
  return text;
}

std::string path_of(const ClientOptions& options) {
  return options.endpoint == "chat" ? "/v1/chat/completions" : "/v1/completions";
}

httplib::Client connect(const ClientOptions& options) {
  httplib::Client client(options.url);
  client.set_connection_timeout(10);
  client.set_read_timeout(options.timeout_s);
  client.set_tcp_nodelay(true);
  return client;
}

// What the chunks of one answer say.
class AnswerReader {
 public:
  explicit AnswerReader(RequestRecord& record) : record_(record), last_ns_(record.sent_ns) {}

  void read(const std::string& event) {
    if (event == "[DONE]") {
      done_ = true;
      return;
    }
    const json chunk = json::parse(event, nullptr, false);
    if (chunk.is_discarded() || !chunk.is_object()) {
      record_.error = "a chunk is no JSON: " + event.substr(0, 200);
      return;
    }
    if (chunk.contains("error")) record_.error = chunk["error"].dump();
    if (const json& usage = chunk.value("usage", json()); usage.is_object()) read_usage(usage);
    const json choices = chunk.value("choices", json::array());
    if (!choices.is_array() || choices.empty()) return;
    read_choice(choices[0]);
  }
  bool done() const { return done_; }
  bool has_usage() const { return has_usage_; }

 private:
  void read_usage(const json& usage) {
    has_usage_ = true;
    record_.input_tokens = usage.value("prompt_tokens", 0);
    record_.output_tokens = usage.value("completion_tokens", 0);
    const json details = usage.value("prompt_tokens_details", json());
    if (details.is_object()) record_.cached_tokens = details.value("cached_tokens", 0);
  }
  void read_choice(const json& choice) {
    const json& source = choice.contains("delta") ? choice["delta"] : choice;
    const json text = source.value(choice.contains("delta") ? "content" : "text", json());
    const json tokens = choice.value("token_ids", json());
    const bool has_text = text.is_string() && !text.get_ref<const std::string&>().empty();
    const bool has_tokens = tokens.is_array() && !tokens.empty();
    if (!has_text && !has_tokens) return;
    if (has_text) record_.answer_text += text.get_ref<const std::string&>();
    if (has_tokens) {
      for (const json& token : tokens) record_.answer_tokens.push_back(token.get<Token>());
    }
    count_chunk();
  }
  void count_chunk() {
    const std::int64_t now = now_ns();
    const double gap_s = static_cast<double>(now - last_ns_) * 1e-9;
    if (record_.ttft_s == 0) {
      record_.ttft_s = gap_s;
    } else {
      record_.itl_s.push_back(gap_s);
    }
    last_ns_ = now;
    record_.latency_s = static_cast<double>(now - record_.sent_ns) * 1e-9;
  }

  RequestRecord& record_;
  std::int64_t last_ns_;  // of the last chunk, at first of the request
  bool done_ = false, has_usage_ = false;
};

}  // namespace

void Prompt::ask(const Turn& turn) {
  tokens_.insert(tokens_.end(), turn.input.begin(), turn.input.end());
  messages_.push_back({true, words(turn.input)});
}

void Prompt::answered(const RequestRecord& record, const std::vector<Token>& stand_in) {
  const auto& tokens = record.answer_tokens.empty() ? stand_in : record.answer_tokens;
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  messages_.push_back({false, record.answer_text});
}

std::string Prompt::body(int output_tokens) const {
  json body = {{"max_tokens", output_tokens},
               {"temperature", options_.temperature},
               {"stream", true},
               {"stream_options", {{"include_usage", true}}}};
  if (!options_.model.empty()) body["model"] = options_.model;
  if (options_.ignore_eos) body["ignore_eos"] = true;
  if (options_.endpoint == "chat") {
    for (const Message& message : messages_) {
      body["messages"].push_back(
          {{"role", message.user ? "user" : "assistant"}, {"content", message.text}});
    }
  } else if (options_.text) {
    std::string text;
    for (const Message& message : messages_) text += (text.empty() ? "" : " ") + message.text;
    body["prompt"] = text;
  } else {
    body["prompt"] = tokens_;
    body["return_token_ids"] = true;
  }
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

RequestRecord Client::send(const std::string& body) const {
  httplib::Client client = connect(options_);
  RequestRecord record;
  record.sent_ns = now_ns();
  AnswerReader answer(record);
  SseReader events;
  std::string refusal;
  httplib::Request request;
  request.method = "POST";
  request.path = path_of(options_);
  request.body = body;
  request.set_header("Content-Type", "application/json");
  if (!options_.api_key.empty()) {
    request.set_header("Authorization", "Bearer " + options_.api_key);
  }
  request.response_handler = [&](const httplib::Response& response) {
    record.status = response.status;
    return true;
  };
  request.content_receiver = [&](const char* bytes, std::size_t count, std::uint64_t,
                                 std::uint64_t) {
    if (record.status != 200) refusal.append(bytes, std::min<std::size_t>(count, 500));
    try {
      for (const std::string& event : events.add({bytes, count})) answer.read(event);
    } catch (const json::exception& error) {
      record.error = std::string("a chunk has not OpenAI's shape: ") + error.what();
    }
    return record.error.empty();
  };
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  const bool sent = client.send(request, response, error);
  if (record.status != 0 && record.status != 200) {
    record.error = "HTTP " + std::to_string(record.status) + ": " + refusal;
  } else if (record.error.empty() && !sent) {
    record.error = "the connection failed: " + httplib::to_string(error);
  } else if (record.error.empty() && !answer.done()) {
    record.error = "the stream ended without [DONE]";
  } else if (record.error.empty() && !answer.has_usage()) {
    record.error = "the server reports no usage in its stream, by which tokens are counted";
  } else if (record.error.empty() && record.ttft_s == 0) {
    record.error = "the answer is empty";
  }
  return record;
}

std::string first_model(const ClientOptions& options) {
  httplib::Client client = connect(options);
  const auto result = client.Get("/v1/models");
  if (!result || result->status != 200) return {};
  const json body = json::parse(result->body, nullptr, false);
  try {
    return body.at("data").at(0).at("id").get<std::string>();
  } catch (const json::exception&) {
    return {};
  }
}

}  // namespace serving::bench

#include "serving/api/answer_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace serving {
namespace {

using nlohmann::json;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json finish_reason(Finish finish) {
  switch (finish) {
    case Finish::stop:
      return "stop";
    case Finish::length:
      return "length";
    case Finish::none:
    case Finish::cancelled:
    case Finish::failed:
      break;
  }
  return nullptr;
}

json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}}};
}

json chat_logprob(const Tokenizer& tokenizer, Token token, float logprob) {
  const std::string_view bytes = tokenizer.bytes(token);
  json list = json::array();
  for (unsigned char byte : bytes) list.push_back(byte);
  return {{"token", bytes}, {"logprob", logprob}, {"bytes", std::move(list)}};
}

json chat_logprobs(const Tokenizer& tokenizer, const std::vector<TokenLogprob>& logprobs) {
  json content = json::array();
  for (const TokenLogprob& one : logprobs) {
    json entry = chat_logprob(tokenizer, one.token, one.logprob);
    entry["top_logprobs"] = json::array();
    for (const Logprob& other : one.top) {
      entry["top_logprobs"].push_back(chat_logprob(tokenizer, other.token, other.logprob));
    }
    content.push_back(std::move(entry));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

// The older shape. Two tokens may look alike here; the likelier keeps the name.
json text_logprobs(const Tokenizer& tokenizer, const std::vector<TokenLogprob>& logprobs,
                   std::size_t& offset_bytes) {
  json tokens = json::array(), values = json::array(), tops = json::array(),
       offsets = json::array();
  for (const TokenLogprob& one : logprobs) {
    const std::string_view bytes = tokenizer.bytes(one.token);
    json top = json::object();
    for (const Logprob& other : one.top) {
      top.emplace(std::string(tokenizer.bytes(other.token)), other.logprob);
    }
    tokens.push_back(bytes);
    values.push_back(one.logprob);
    tops.push_back(std::move(top));
    offsets.push_back(offset_bytes);
    offset_bytes += bytes.size();
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(values)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

json envelope(const AnswerHeader& header, const char* object) {
  return {{"id", header.id},
          {"object", object},
          {"created", header.created_unix_s},
          {"model", header.model}};
}

const char* chunk_object(Endpoint endpoint) {
  return endpoint == Endpoint::chat ? "chat.completion.chunk" : "text_completion";
}

}  // namespace

AnswerWriter::AnswerWriter(AnswerHeader header, const Tokenizer& tokenizer,
                           const std::vector<std::vector<Token>>& prompts)
    : header_(std::move(header)),
      tokenizer_(tokenizer),
      prompts_(prompts),
      chunk_head_(dump(envelope(header_, chunk_object(header_.endpoint)))),
      offset_bytes_(prompts.size(), SIZE_MAX) {
  chunk_head_.back() = ',';  // the object goes on
}

std::string AnswerWriter::whole(const std::vector<Delta>& answers, const Usage& usage) {
  const bool chat = header_.endpoint == Endpoint::chat;
  json body = envelope(header_, chat ? "chat.completion" : "text_completion");
  body["choices"] = json::array();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Delta& answer = answers[i];
    json choice = {
        {"index", i}, {"finish_reason", finish_reason(answer.finish)}, {"logprobs", nullptr}};
    if (chat) {
      choice["message"] = {{"role", "assistant"}, {"content", answer.text}, {"refusal", nullptr}};
    } else {
      choice["text"] = answer.text;
    }
    offset_bytes_[i] = 0;
    if (header_.logprobs) choice["logprobs"] = logprobs(i, answer);
    if (header_.token_ids) {
      choice["token_ids"] = answer.tokens;
      (chat ? body : choice)["prompt_token_ids"] = prompts_[i];
    }
    body["choices"].push_back(std::move(choice));
  }
  body["usage"] = usage_json(usage);
  return dump(body);
}

// Written by hand: a chunk is made for each token of each stream, and building a tree for it takes
// several times as long.
std::string AnswerWriter::chunk(std::size_t index, const Delta& delta) {
  const bool chat = header_.endpoint == Endpoint::chat;
  const bool first = offset_bytes_[index] == SIZE_MAX;
  if (first) offset_bytes_[index] = 0;
  std::string out = chunk_head_ + "\"choices\":[{\"index\":" + std::to_string(index);
  if (chat) {
    out += first ? ",\"delta\":{\"role\":\"assistant\"," : ",\"delta\":{";
    out += "\"content\":" + dump(delta.text) + "}";
  } else {
    out += ",\"text\":" + dump(delta.text);
  }
  out += ",\"logprobs\":" + (header_.logprobs ? dump(logprobs(index, delta)) : "null");
  out += ",\"finish_reason\":" + dump(finish_reason(delta.finish));
  if (header_.token_ids) out += ",\"token_ids\":" + dump(delta.tokens);
  const bool prompt = header_.token_ids && first;
  if (prompt && !chat) out += ",\"prompt_token_ids\":" + dump(prompts_[index]);
  out += "}]";
  if (prompt && chat) out += ",\"prompt_token_ids\":" + dump(prompts_[index]);
  if (header_.usage_in_chunks) out += ",\"usage\":null";
  return out + "}";
}

json AnswerWriter::logprobs(std::size_t index, const Delta& delta) {
  return header_.endpoint == Endpoint::chat
             ? chat_logprobs(tokenizer_, delta.logprobs)
             : text_logprobs(tokenizer_, delta.logprobs, offset_bytes_[index]);
}

std::string AnswerWriter::usage_chunk(const Usage& usage) const {
  json body = envelope(header_, chunk_object(header_.endpoint));
  body["choices"] = json::array();
  body["usage"] = usage_json(usage);
  return dump(body);
}

std::string sse(std::string_view json_text) {
  std::string event = "data: ";
  event += json_text;
  event += "\n\n";
  return event;
}

}  // namespace serving

// What a body of /v1/completions or /v1/chat/completions asks for, checked but not yet in tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "serving/api/api_error.h"
#include "serving/engine/engine.h"

namespace serving {

enum class Endpoint { completions, chat };

using Prompt = std::variant<std::string, std::vector<Token>>;

struct Message {
  std::string role;  // system, user or assistant
  std::string content;
};

struct CompletionCall {
  Endpoint endpoint = Endpoint::completions;
  std::string model;              // empty: whichever is served
  std::vector<Prompt> prompts;    // completions
  std::vector<Message> messages;  // chat
  Sampling sampling;              // without its seed
  std::optional<std::uint64_t> seed;
  std::optional<int> max_tokens;  // absent in chat: as many as fit
  std::vector<std::string> stop;
  bool stream = false;
  bool include_usage = false;  // a last chunk with the usage
  bool ignore_eos = false;     // the next two as vLLM has them
  bool return_token_ids = false;
  std::optional<std::string> schema;  // of the answer, as JSON; json_object is {"type": "object"}
};

ApiResult<CompletionCall> parse_call(Endpoint endpoint, std::string_view body);

}  // namespace serving

#include "serving/api/completion_call.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>

#include "serving/api/fields.h"

namespace serving {
namespace {

constexpr std::int64_t kMostTokens = std::numeric_limits<int>::max();
constexpr std::size_t kMostPrompts = 64;
constexpr std::size_t kMostStops = 16;
constexpr int kMostLogprobs = 20;

bool is_token_list(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& token) {
           return token.is_number_integer() && token >= 0 &&
                  token <= std::numeric_limits<Token>::max();
         });
}

std::optional<Prompt> one_prompt(const Json& value) {
  if (value.is_string()) return Prompt(value.get<std::string>());
  if (is_token_list(value)) return Prompt(value.get<std::vector<Token>>());
  return std::nullopt;
}

// A text, a list of token ids, or a list of these.
void read_prompts(Fields& fields, CompletionCall& call) {
  const Json* value = fields.find("prompt");
  if (value == nullptr) return fields.fail("prompt", "is missing");
  if (auto prompt = one_prompt(*value)) {
    call.prompts.push_back(std::move(*prompt));
    return;
  }
  const bool list = value->is_array() && !value->empty();
  if (list && value->size() > kMostPrompts) {
    return fields.fail("prompt", "holds more than " + std::to_string(kMostPrompts) + " prompts");
  }
  for (const Json& element : list ? *value : Json::array()) {
    auto prompt = one_prompt(element);
    if (!prompt) break;
    call.prompts.push_back(std::move(*prompt));
  }
  if (!list || call.prompts.size() != value->size()) {
    fields.fail("prompt", "must be a text, a list of token ids, or a list of these");
  }
}

// A string, or a list of parts of which only texts are understood.
std::string read_content(Fields& message) {
  const Json* content = message.find("content");
  if (content == nullptr) {
    message.fail("content", "is missing");
  } else if (content->is_string()) {
    return content->get<std::string>();
  } else if (content->is_array()) {
    std::string text;
    for (const Json& part : *content) {
      const bool is_text = part.is_object() && part.size() == 2 &&
                           part.value("type", Json()) == "text" &&
                           part.value("text", Json()).is_string();
      if (!is_text) {
        message.fail("content", "may hold only parts {\"type\": \"text\", \"text\": \"...\"}");
        break;
      }
      text += part["text"].get<std::string>();
    }
    return text;
  } else {
    message.fail("content", "must be a string or a list of text parts");
  }
  return {};
}

std::optional<ApiError> read_messages(Fields& fields, CompletionCall& call) {
  const Json* value = fields.find("messages");
  if (value == nullptr || !value->is_array() || value->empty()) {
    fields.fail("messages", "must be a list of at least one message");
    return std::nullopt;
  }
  for (std::size_t i = 0; i < value->size(); ++i) {
    Fields message((*value)[i], "messages." + std::to_string(i) + ".");
    std::string role = message.string("role").value_or("");
    if (role == "developer") role = "system";  // OpenAI's newer name
    if (role != "system" && role != "user" && role != "assistant") {
      message.fail("role", "must be system, user or assistant");
    }
    std::string content = read_content(message);
    message.ignore({"name"});
    message.only("refusal", {nullptr});
    message.only("tool_calls", {Json::array()});
    if (auto error = message.error()) return error;
    call.messages.push_back({std::move(role), std::move(content)});
  }
  return std::nullopt;
}

void read_stop(Fields& fields, CompletionCall& call) {
  const Json* value = fields.find("stop");
  if (value == nullptr) return;
  const Json list = value->is_string() ? Json::array({*value}) : *value;
  const bool good = list.is_array() && list.size() <= kMostStops &&
                    std::all_of(list.begin(), list.end(), [](const Json& stop) {
                      return stop.is_string() && !stop.get_ref<const std::string&>().empty();
                    });
  if (!good) return fields.fail("stop", "must be a string, or at most 16 strings, none empty");
  call.stop = list.get<std::vector<std::string>>();
}

void read_logprobs(Fields& fields, CompletionCall& call) {
  if (call.endpoint == Endpoint::completions) {
    const auto count = fields.integer("logprobs", 0, kMostLogprobs);
    if (count) call.sampling.top_logprobs = static_cast<int>(*count);
    return;
  }
  const bool wanted = fields.boolean("logprobs", false);
  const auto count = fields.integer("top_logprobs", 0, kMostLogprobs);
  if (wanted) {
    call.sampling.top_logprobs = static_cast<int>(count.value_or(0));
  } else if (count.value_or(0) > 0) {
    fields.fail("top_logprobs", "needs \"logprobs\": true");
  }
}

std::optional<ApiError> read_response_format(Fields& fields, CompletionCall& call) {
  const Json* value = fields.find("response_format");
  if (value == nullptr) return std::nullopt;
  Fields format(*value, "response_format.");
  const std::string type = format.string("type").value_or("");
  if (type == "json_object") {
    call.schema = R"({"type": "object"})";
  } else if (type == "json_schema") {
    const Json* named = format.find("json_schema");
    if (named == nullptr) {
      format.fail("json_schema", "is missing");
    } else {
      Fields inner(*named, "response_format.json_schema.");
      inner.ignore({"name", "description", "strict"});
      const Json* schema = inner.find("schema");
      if (schema == nullptr) inner.fail("schema", "is missing");
      if (auto error = inner.error()) return error;
      call.schema = schema->dump();
    }
  } else if (type != "text") {
    format.fail("type", "must be text, json_object or json_schema");
  }
  return format.error();
}

std::optional<ApiError> read_stream(Fields& fields, CompletionCall& call) {
  call.stream = fields.boolean("stream", false);
  const Json* value = fields.find("stream_options");
  if (value == nullptr) return std::nullopt;
  Fields options(*value, "stream_options.");
  call.include_usage = options.boolean("include_usage", false);
  options.only("continuous_usage_stats", {false});
  options.ignore({"include_obfuscation"});
  if (!call.stream) fields.fail("stream_options", "needs \"stream\": true");
  return options.error();
}

void read_sampling(Fields& fields, CompletionCall& call) {
  call.sampling.temperature = static_cast<float>(fields.number("temperature", 1, 0, 2));
  call.sampling.top_p = static_cast<float>(fields.number("top_p", 1, 0, 1));
  if (call.sampling.top_p == 0) fields.fail("top_p", "must be more than 0");
  const auto top_k = fields.integer("top_k", -1, kMostTokens);  // -1 as in vLLM: all
  call.sampling.top_k = static_cast<int>(std::max<std::int64_t>(0, top_k.value_or(0)));
  const auto seed = fields.integer("seed", std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max());
  if (seed) call.seed = static_cast<std::uint64_t>(*seed);
  const auto limit = [&](const char* name) { return fields.integer(name, 1, kMostTokens); };
  auto most = limit("max_tokens");
  if (call.endpoint == Endpoint::chat) {
    if (const auto newer = limit("max_completion_tokens")) most = newer;
  }
  if (most) call.max_tokens = static_cast<int>(*most);
}

// Fields of OpenAI's and vLLM's APIs that ask for nothing in these values, which clients send.
void read_neutral(Fields& fields, Endpoint endpoint) {
  fields.ignore(
      {"user", "store", "metadata", "service_tier", "prompt_cache_key", "safety_identifier"});
  fields.only("n", {1});
  fields.only("presence_penalty", {0});
  fields.only("frequency_penalty", {0});
  fields.only("repetition_penalty", {1});
  fields.only("min_p", {0});
  fields.only("min_tokens", {0});
  fields.only("logit_bias", {Json::object()});
  if (endpoint == Endpoint::completions) {
    fields.only("best_of", {1});
    fields.only("echo", {false});
    fields.only("suffix", {""});
  } else {
    fields.only("tools", {Json::array()});
    fields.only("tool_choice", {"none", "auto"});
    fields.only("parallel_tool_calls", {false, true});
    fields.only("modalities", {Json::array({"text"})});
  }
}

}  // namespace

ApiResult<CompletionCall> parse_call(Endpoint endpoint, std::string_view body) {
  auto object = parse_object(body);
  if (!object) return tl::unexpected<ApiError>(object.error());
  Fields fields(*object);
  CompletionCall call;
  call.endpoint = endpoint;
  call.model = fields.string("model").value_or("");
  std::optional<ApiError> nested;
  if (endpoint == Endpoint::completions) {
    read_prompts(fields, call);
  } else {
    nested = read_messages(fields, call);
  }
  read_sampling(fields, call);
  read_stop(fields, call);
  read_logprobs(fields, call);
  if (!nested) nested = read_response_format(fields, call);
  if (!nested) nested = read_stream(fields, call);
  call.ignore_eos = fields.boolean("ignore_eos", false);
  call.return_token_ids = fields.boolean("return_token_ids", false);
  read_neutral(fields, endpoint);
  if (nested) return tl::unexpected<ApiError>(*nested);
  if (auto error = fields.error()) return tl::unexpected<ApiError>(*error);
  return call;
}

}  // namespace serving

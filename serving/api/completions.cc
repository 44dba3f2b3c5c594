#include "serving/api/completions.h"

#include <algorithm>
#include <utility>

#include "serving/core/clock.h"
#include "serving/grammar/constraint.h"
#include "serving/trace/trace.h"

namespace serving {
namespace {

// How long one wait for the engine may last: a client that has gone is noticed between two waits.
constexpr std::chrono::milliseconds kWait{50};
constexpr std::chrono::milliseconds kTurn{1};  // where several answers of a call take turns

double seconds_since(std::int64_t begin_ns) {
  return static_cast<double>(now_ns() - begin_ns) * 1e-9;
}

// How a request ended that nobody waits for any more; counted apart from answers.
constexpr int kDisconnected = 0;

const ApiError kFailed{500, "the engine could not finish this request"};
const ApiError kBusy{503,
                     "as many requests as this server answers at a time are under way; try "
                     "again later"};

int send_error(Reply& reply, const ApiError& error) {
  reply.send(error_response(error));
  return error.status;
}

Usage usage_of(const std::vector<std::vector<Token>>& prompts, const std::vector<Choice>& choices) {
  Usage usage;
  for (const auto& prompt : prompts) usage.prompt_tokens += prompt.size();
  for (const Choice& choice : choices) {
    usage.completion_tokens += static_cast<std::size_t>(choice.tokens());
    usage.cached_tokens += static_cast<std::size_t>(choice.cached_tokens());
  }
  return usage;
}

// One of the places for requests that are answered, held as long as this lives. Only who got one
// counts: a burst of refusals must not keep out those who come after it.
class Place {
 public:
  Place(std::atomic<int>& taken, int limit) : taken_(taken) {
    int seen = taken.load();
    while (seen < limit && !taken.compare_exchange_weak(seen, seen + 1)) {
    }
    got_ = seen < limit;
  }
  ~Place() {
    if (got_) --taken_;
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  explicit operator bool() const { return got_; }

 private:
  std::atomic<int>& taken_;
  bool got_ = false;
};

}  // namespace

Completions::Completions(Engine& engine, const Tokenizer& tokenizer, CompletionOptions options,
                         Metrics& metrics)
    : engine_(engine),
      tokenizer_(tokenizer),
      options_(std::move(options)),
      metrics_(metrics),
      chat_format_(options_.chat_format ? *options_.chat_format
                                        : recognise_chat_format(tokenizer.chat_template())) {
  std::vector<std::string_view> tokens;
  std::size_t longest_token_bytes = 64;  // control tokens have no bytes, but names
  for (Token token = 0; token < tokenizer.vocabulary(); ++token) {
    tokens.push_back(tokenizer.bytes(token));
    longest_token_bytes = std::max(longest_token_bytes, tokens.back().size());
  }
  most_prompt_bytes_ = static_cast<std::size_t>(engine.shape().context) * longest_token_bytes;
  trie_ = make_token_trie(tokens);
}

void Completions::answer(Endpoint endpoint, const HttpRequest& request, Reply& reply) {
  const std::int64_t begin_ns = now_ns();
  // Before the body is even parsed: refusing must cost next to nothing.
  const Place place(answering_, options_.answers);
  const int status =
      place ? answer_admitted(endpoint, request, reply, begin_ns) : send_error(reply, kBusy);
  if (status == kDisconnected) {
    metrics_.disconnected();
  } else {
    metrics_.answered(status);
  }
  if (status == 200) metrics_.request_time.add(seconds_since(begin_ns));
}

int Completions::answer_admitted(Endpoint endpoint, const HttpRequest& request, Reply& reply,
                                 std::int64_t begin_ns) {
  const TraceSpan span("api.request");
  auto call = parse_call(endpoint, request.body);
  if (!call) return send_error(reply, call.error());
  auto started = start(std::move(*call), begin_ns);
  if (!started) return send_error(reply, started.error());
  AnswerWriter writer(header(started->call), tokenizer_, started->prompts);
  return started->call.stream ? answer_streamed(*started, writer, reply)
                              : answer_whole(*started, writer, reply);
}

ApiResult<Completions::Started> Completions::start(CompletionCall call, std::int64_t begin_ns) {
  if (!call.model.empty() && call.model != options_.model) {
    return refuse(
        404,
        "there is no model '" + call.model.substr(0, 256) + "' here, only '" + options_.model + "'",
        "model", "model_not_found");
  }
  auto prompts = [&] {
    const TraceSpan span("api.tokenise");
    return tokenise(call);
  }();
  if (!prompts) return tl::unexpected<ApiError>(prompts.error());
  Started started;
  started.begin_ns = begin_ns;
  for (const auto& prompt : *prompts) {
    auto request = engine_request(call, prompt);
    if (!request) return tl::unexpected<ApiError>(request.error());
    auto answer = engine_.submit(std::move(*request));
    if (!answer) return tl::unexpected<ApiError>(api_error(answer.error()));
    started.choices.emplace_back(std::move(*answer), tokenizer_, call.stop,
                                 call.sampling.top_logprobs >= 0);
  }
  started.prompts = std::move(*prompts);
  started.call = std::move(call);
  return started;
}

ApiResult<std::vector<std::vector<Token>>> Completions::tokenise(const CompletionCall& call) const {
  std::vector<std::vector<Token>> prompts;
  if (call.endpoint == Endpoint::chat) {
    if (!chat_format_) return refuse(400, chat_format_.error().message, "messages");
    std::size_t bytes = 0;
    for (const Message& message : call.messages) bytes += message.content.size();
    if (bytes > most_prompt_bytes_) return too_long(bytes, "messages");
    prompts.push_back(chat_tokens(tokenizer_, render_chat(*chat_format_, call.messages)));
    return prompts;
  }
  for (const Prompt& prompt : call.prompts) {
    if (const auto* tokens = std::get_if<std::vector<Token>>(&prompt)) {
      prompts.push_back(*tokens);
      continue;
    }
    const auto& text = std::get<std::string>(prompt);
    if (text.size() > most_prompt_bytes_) return too_long(text.size(), "prompt");
    prompts.push_back(tokenizer_.encode(text, true, tokenizer_.adds_bos()));
  }
  return prompts;
}

tl::unexpected<ApiError> Completions::too_long(std::size_t bytes, const char* param) const {
  return refuse(400,
                "the prompt of " + std::to_string(bytes) + " bytes cannot fit the context of " +
                    std::to_string(engine_.shape().context) + " tokens",
                param, "context_length_exceeded");
}

ApiResult<Request> Completions::engine_request(const CompletionCall& call,
                                               const std::vector<Token>& prompt) {
  const int context = engine_.shape().context;
  const char* param = call.endpoint == Endpoint::chat ? "messages" : "prompt";
  if (prompt.empty()) return refuse(400, "the prompt holds no token", param);
  const std::size_t used = prompt.size();
  const int room = used < static_cast<std::size_t>(context) ? context - static_cast<int>(used) : 0;
  const int usual = call.endpoint == Endpoint::chat ? room : std::min(room, 16);
  const int wanted = call.max_tokens.value_or(std::max(usual, 1));
  if (wanted > room) {
    return refuse(400,
                  "the context holds " + std::to_string(context) + " tokens; the prompt has " +
                      std::to_string(used) + " and the answer may take " + std::to_string(wanted),
                  param, "context_length_exceeded");
  }
  Request request{.prompt = prompt,
                  .sampling = call.sampling,
                  .max_tokens = wanted,
                  .ignore_eos = call.ignore_eos,
                  .end_tokens = {},
                  .constraint = nullptr};
  request.sampling.seed = call.seed ? *call.seed : draw_seed();
  const auto ends = tokenizer_.end_tokens();
  request.end_tokens.assign(ends.begin(), ends.end());
  if (call.endpoint == Endpoint::chat) {
    const auto turn_ends = turn_end_tokens(tokenizer_, *chat_format_);
    request.end_tokens.insert(request.end_tokens.end(), turn_ends.begin(), turn_ends.end());
  }
  if (call.schema) {
    auto grammar = compile_schema(*call.schema);
    if (!grammar) return refuse(400, grammar.error().message, "response_format");
    request.constraint = make_constraint(
        std::move(*grammar), trie_, call.ignore_eos ? std::vector<Token>{} : request.end_tokens);
  }
  return request;
}

Completions::End Completions::run(Started& started, Reply& reply, const Take& take) {
  const auto wait = started.choices.size() == 1 ? kWait : kTurn;
  bool any_token = false;
  std::size_t open = started.choices.size();
  while (open > 0) {
    for (std::size_t i = 0; i < started.choices.size(); ++i) {
      Choice& choice = started.choices[i];
      if (choice.finished()) continue;
      auto delta = choice.next(wait);
      if (!delta) continue;
      if (delta->finish == Finish::failed || delta->finish == Finish::cancelled) return End::failed;
      if (!any_token) metrics_.time_to_first_token.add(seconds_since(started.begin_ns));
      any_token = true;
      if (choice.finished()) --open;
      if (!take(i, std::move(*delta))) return End::disconnected;
    }
    if (!reply.connected()) return End::disconnected;
  }
  return End::complete;
}

int Completions::answer_whole(Started& started, AnswerWriter& writer, Reply& reply) {
  std::vector<Delta> answers(started.choices.size());
  const End end = run(started, reply, [&](std::size_t index, Delta delta) {
    answers[index].append(std::move(delta));
    return true;
  });
  if (end == End::disconnected) return kDisconnected;
  if (end == End::failed) return send_error(reply, kFailed);
  reply.send({.body = writer.whole(answers, usage_of(started.prompts, started.choices))});
  return 200;
}

// The stream begins with the first token: what fails before can still be answered as an error.
int Completions::answer_streamed(Started& started, AnswerWriter& writer, Reply& reply) {
  bool begun = false;
  const bool every_token = started.call.return_token_ids || started.call.sampling.top_logprobs >= 0;
  const End end = run(started, reply, [&](std::size_t index, const Delta& delta) {
    if (delta.text.empty() && delta.finish == Finish::none && !every_token) return true;
    if (!begun && !reply.begin_stream("text/event-stream")) return false;
    begun = true;
    const TraceSpan span("api.write", {"choice", static_cast<std::int64_t>(index)});
    return reply.write(sse(writer.chunk(index, delta)));
  });
  if (end == End::disconnected) return kDisconnected;
  if (end == End::failed) {
    if (!begun) return send_error(reply, kFailed);
    reply.write(sse(error_body(kFailed)));
    return kFailed.status;
  }
  std::string ending;
  if (started.call.include_usage) {
    ending = sse(writer.usage_chunk(usage_of(started.prompts, started.choices)));
  }
  return reply.write(ending + sse("[DONE]")) ? 200 : kDisconnected;
}

AnswerHeader Completions::header(const CompletionCall& call) {
  const char* prefix = call.endpoint == Endpoint::chat ? "chatcmpl-" : "cmpl-";
  return {.endpoint = call.endpoint,
          .id = prefix + std::to_string(++calls_),
          .created_unix_s = options_.unix_s(),
          .model = options_.model,
          .logprobs = call.sampling.top_logprobs >= 0,
          .token_ids = call.return_token_ids,
          .usage_in_chunks = call.include_usage};
}

// SplitMix64 (Steele, Lea, Flood 2014) over a counter: seeds unlike each other, without a lock.
std::uint64_t Completions::draw_seed() {
  std::uint64_t z = options_.seed + ++seeds_ * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace serving

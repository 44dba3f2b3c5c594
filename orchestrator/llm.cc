#include "orchestrator/llm.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "hypotheses/json.h"

namespace orchestrator {

using base::ErrorCode;
using nlohmann::json;

namespace {

constexpr std::size_t kLongestAnswer = 1 << 20;  // bytes of an HTTP body
constexpr std::size_t kTranscriptBytes = 32 << 10;
constexpr std::size_t kErrorBytes = 300;  // of an error's body
constexpr double kMostTokens = 1e9;       // beyond it the usage is not believed
constexpr double kFirstBackOff_s = 0.2, kLongestBackOff_s = 5;

struct Endpoint {
  std::string origin;  // scheme://host[:port]
  std::string path;    // without the trailing slash
};

base::Result<Endpoint> parse_endpoint(const std::string& url) {
  auto scheme = url.find("://");
  bool known = url.rfind("http://", 0) == 0 || url.rfind("https://", 0) == 0;
  if (!known || url.size() <= scheme + 3) {
    return base::fail(ErrorCode::bad_input,
                      "planner.endpoint must be http(s)://host[:port][/path], found '" + url + "'");
  }
  auto slash = url.find('/', scheme + 3);
  Endpoint endpoint{url.substr(0, slash), slash == std::string::npos ? "" : url.substr(slash)};
  while (!endpoint.path.empty() && endpoint.path.back() == '/') endpoint.path.pop_back();
  const std::string suffix = "/v1";
  bool has_version =
      endpoint.path.size() >= 3 && endpoint.path.compare(endpoint.path.size() - 3, 3, suffix) == 0;
  if (!has_version) endpoint.path += suffix;
  return endpoint;
}

// What the endpoint says that the exchange cost; 0 when it says nothing that can be believed.
std::int64_t reported_tokens(const json& completion) {
  auto usage = completion.find("usage");
  if (usage == completion.end() || !usage->is_object()) return 0;
  auto total = usage->find("total_tokens");
  if (total == usage->end() || !total->is_number()) return 0;
  double tokens = total->get<double>();
  return tokens >= 1 && tokens <= kMostTokens ? static_cast<std::int64_t>(tokens) : 0;
}

// The text of a completion, or what is wrong with it.
base::Result<std::string> read_completion(const json& parsed) {
  if (!parsed.is_object()) {
    return base::fail(ErrorCode::bad_input, "the endpoint's answer is no JSON object (cut off?)");
  }
  auto choices = parsed.find("choices");
  if (choices == parsed.end() || !choices->is_array() || choices->empty() ||
      !(*choices)[0].is_object()) {
    return base::fail(ErrorCode::bad_input, "the endpoint's answer has no choices");
  }
  const json& choice = (*choices)[0];
  auto message = choice.find("message");
  if (message == choice.end() || !message->is_object() || !message->contains("content") ||
      !(*message)["content"].is_string()) {
    return base::fail(ErrorCode::bad_input, "the endpoint's answer has no message content");
  }
  std::string text = (*message)["content"].get<std::string>();
  if (choice.value("finish_reason", json()) == "length") {
    return base::fail(ErrorCode::bad_input,
                      "the answer was cut off at its token limit; answer more briefly");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return base::fail(ErrorCode::bad_input, "the answer is empty");
  }
  return text;
}

// Why no answer came. What was sent and not answered (timeout, io) may have been charged; what
// never reached the endpoint (unavailable) was not, and asking again does not help a bad
// certificate.
base::Error no_answer(httplib::Error error) {
  using Kind = httplib::Error;
  switch (error) {
    case Kind::Connection:
    case Kind::ConnectionTimeout:
      return {ErrorCode::unavailable, "could not connect", {}};
    case Kind::SSLServerVerification:
      return {ErrorCode::refused,
              "its certificate is not trusted; add its authority to the system's certificates",
              {}};
    case Kind::SSLConnection:
    case Kind::SSLLoadingCerts:
      return {ErrorCode::unavailable, "could not connect by TLS", {}};
    case Kind::Read:
      return {ErrorCode::io, "the connection was closed before the answer was complete", {}};
    default:
      return {ErrorCode::io, "the exchange broke off: " + httplib::to_string(error), {}};
  }
}

// One request. The time-out bounds the whole exchange, also an endpoint that sends a byte at a
// time.
base::Result<std::string> post(const Endpoint& endpoint, const std::string& key, const json& body,
                               double timeout_s, std::stop_token stop) {
  httplib::Client client(endpoint.origin);
  if (!client.is_valid()) {
    return base::fail(ErrorCode::bad_input, "cannot use " + endpoint.origin + " as an address");
  }
  auto timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1e3));
  // A watcher ends the exchange at the time-out or when the daemon stops. The library's own limits,
  // which hold for each read, come later, so that a slow endpoint is not told as a broken one.
  client.set_connection_timeout(timeout);
  client.set_read_timeout(timeout + std::chrono::seconds(1));
  client.set_write_timeout(timeout + std::chrono::seconds(1));
  if (!key.empty()) client.set_bearer_token_auth(key);
  std::mutex mutex;
  std::condition_variable_any ended;
  bool done = false, timed_out = false;
  std::jthread watcher([&] {
    std::unique_lock lock(mutex);
    timed_out = !ended.wait_for(lock, stop, timeout, [&] { return done; });
    if (!done) client.stop();
  });
  std::string text;
  bool too_long = false;
  httplib::Request request;
  request.method = "POST";
  request.path = endpoint.path + "/chat/completions";
  request.set_header("Content-Type", "application/json");
  request.body = hypotheses::dump(body);
  request.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    text.append(data, size);
    too_long = text.size() > kLongestAnswer;
    return !too_long;
  };
  httplib::Result response = client.send(request);
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  ended.notify_all();
  watcher.join();
  if (!response) {
    base::Error error = no_answer(response.error());
    if (too_long) error = {ErrorCode::io, "its answer is larger than 1 MiB", {}};
    if (timed_out)
      error = {ErrorCode::timeout, fmt::format("no answer within {:g} s", timeout_s), {}};
    if (stop.stop_requested()) error = {ErrorCode::timeout, "the question was stopped", {}};
    return base::fail(error.code, endpoint.origin + ": " + error.message);
  }
  if (response->status != 200) {
    std::string said = redact(text.empty() ? response->body : text, key).substr(0, kErrorBytes);
    return base::fail(response->status == 429 || response->status >= 500 ? ErrorCode::unavailable
                                                                         : ErrorCode::refused,
                      fmt::format("{}: status {}: {}", endpoint.origin, response->status, said));
  }
  return text;
}

void back_off(int attempt, std::stop_token stop) {
  double wait_s = std::min(kLongestBackOff_s, kFirstBackOff_s * static_cast<double>(1 << attempt));
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::duration<double>(wait_s), [] { return false; });
}

// Why the step is not taken: schema and policy, then the edits on the real files.
std::optional<std::string> refuse(const Step& step, const LlmQuestion& question) {
  const auto* proposal = std::get_if<Proposal>(&step);
  if (proposal == nullptr) return {};
  if (auto why = refusal(*proposal, question.view, question.policy)) return why;
  std::map<std::string, std::vector<hypotheses::Edit>> by_file;
  for (const auto& edit : proposal->change.edits) by_file[edit.path].push_back(edit);
  for (const auto& [path, edits] : by_file) {
    auto text = question.read_file(path);
    bool creates = edits.size() == 1 && edits.front().search.empty();
    if (!text && !(creates && text.error().code == ErrorCode::not_found)) {
      return text.error().text();
    }
    auto edited = apply_edits(path, text.value_or(""), edits);
    if (!edited) return edited.error().text();
  }
  return {};
}

// One exchange of the conversation and its outcome.
struct Exchange {
  std::optional<Step> step;
  std::int64_t tokens = 0;
  std::string said;        // what the model answered; empty when nothing came
  bool completed = false;  // the endpoint answered, so that the model can be told what is wrong
  std::string failure;     // why there is no step
  bool pointless = false;  // asking again cannot help
};

Exchange exchange(const LlmQuestion& question, const Endpoint& endpoint, const std::string& key,
                  const json& messages, std::stop_token stop) {
  const auto& rule = question.policy.planner;
  json body = {{"model", rule.model},
               {"messages", messages},
               {"max_tokens", rule.answer_tokens},
               {"temperature", 0.7},
               {"seed", question.view.seed + static_cast<std::uint64_t>(question.turn)}};
  Exchange result;
  auto text = post(endpoint, key, body, rule.timeout_s, stop);
  if (!text) {
    // Whatever the endpoint did with a request that it never finished may have been charged.
    bool sent = text.error().code == ErrorCode::timeout || text.error().code == ErrorCode::io;
    result.tokens = sent ? rule.answer_tokens : 0;
    result.failure = text.error().text();
    result.pointless =
        text.error().code == ErrorCode::refused || text.error().code == ErrorCode::bad_input;
    return result;
  }
  json completion = json::parse(*text, nullptr, false);
  std::int64_t reported = reported_tokens(completion);
  result.tokens = reported > 0 ? reported : rule.answer_tokens;
  result.completed = true;
  auto answer = read_completion(completion);
  if (!answer) {
    result.failure = answer.error().text();
    return result;
  }
  result.said = hide(*answer, key);  // a step is recorded too
  auto step = parse_step(result.said);
  if (!step) {
    result.failure = step.error().text();
  } else if (auto why = refuse(*step, question)) {
    result.failure = *why;
  } else {
    result.step = std::move(*step);
  }
  return result;
}

hypotheses::PlannerTurn turn_record(const LlmQuestion& question, const Exchange& done,
                                    const std::string& secret) {
  hypotheses::PlannerTurn turn;
  turn.night = question.view.night;
  turn.turn = question.turn;
  turn.planner = "llm";
  turn.tokens = done.tokens;
  turn.outcome = done.step ? "answered" : "refused";
  std::string text = done.said.empty() ? "" : "answered: " + done.said;
  if (!done.failure.empty()) text += (text.empty() ? "" : "\n") + ("refused: " + done.failure);
  // Hidden before it is cut: half a key is one too many.
  turn.text = redact(std::move(text), secret).substr(0, kTranscriptBytes);
  return turn;
}

}  // namespace

PlannerAnswered ask_llm(const LlmQuestion& question, const Environment& environment,
                        std::stop_token stop) {
  const auto& rule = question.policy.planner;
  PlannerAnswered answered;
  auto endpoint = parse_endpoint(rule.endpoint);
  if (!endpoint) {
    answered.failure = endpoint.error().text();
    return answered;
  }
  std::string key = environment(rule.key_env).value_or("");
  json messages = json::array({{{"role", "system"}, {"content", system_prompt()}},
                               {{"role", "user"}, {"content", user_prompt(question)}}});
  for (int attempt = 0; attempt <= rule.max_retries && !stop.stop_requested(); ++attempt) {
    if (attempt > 0) back_off(attempt, stop);
    // The reserve is what this turn may commit to; a retry that would pass it is not made.
    bool paid = answered.tokens + rule.answer_tokens <= question.reserved_tokens;
    if (attempt > 0 && !paid) break;
    Exchange done = exchange(question, *endpoint, key, messages, stop);
    answered.tokens += done.tokens;
    answered.transcript.push_back(turn_record(question, done, key));
    answered.failure = redact(done.failure, key);
    if (done.step) {
      answered.step = std::move(done.step);
      answered.failure.clear();
      return answered;
    }
    if (done.pointless) break;
    if (!done.said.empty()) messages.push_back({{"role", "assistant"}, {"content", done.said}});
    if (done.completed) {
      messages.push_back({{"role", "user"},
                          {"content", "That was refused: " + done.failure +
                                          "\nAnswer again with one JSON object of the shape "
                                          "described at the beginning."}});
    }
  }
  return answered;
}

}  // namespace orchestrator

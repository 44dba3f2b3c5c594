// A server over the fakes and the clients that tests speak to it with.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "serving/api/api.h"
#include "serving/api/listener.h"
#include "serving/engine/fake_engine.h"
#include "serving/tokenizer/fake_tokenizer.h"

namespace serving {

using nlohmann::json;

// Everything between a fake engine and a port on loopback.
class TestServer {
 public:
  explicit TestServer(FakeEngineOptions engine = {}, ListenerOptions listener = {},
                      CompletionOptions completions = default_completions(),
                      TraceControl* trace = nullptr);
  static CompletionOptions default_completions();

  int port() const { return listener_->port(); }
  FakeEngine& engine() { return engine_; }
  FakeTokenizer& tokenizer() { return tokenizer_; }

 private:
  FakeTokenizer tokenizer_;
  FakeEngine engine_;
  Api api_;
  std::unique_ptr<Listener> listener_;
};

FakeEngineOptions reply_of(const std::string& text);  // the engine answers with this text

struct TestReply {
  int status = 0;  // 0: no answer came
  std::string body, type, retry_after;
  json parsed() const { return json::parse(body); }
  std::vector<json> events() const;  // of an SSE stream; the last, "[DONE]", as a string
};

// By cpp-httplib, as a client that is not ours.
TestReply post(int port, const std::string& path, const json& body);
TestReply post_text(int port, const std::string& path, const std::string& body);
TestReply get(int port, const std::string& path);

// Bytes as they are, for what no HTTP library would send.
class RawClient {
 public:
  // A small receive buffer makes a client that reads nothing hold up the server soon.
  explicit RawClient(int port, int receive_buffer_bytes = 0);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  void send(const std::string& bytes) const;
  // All until the server closes, the text ends with `until`, or `patience` is over.
  std::string receive(std::chrono::milliseconds patience = std::chrono::seconds(5),
                      const std::string& until = "") const;
  void close();

 private:
  int descriptor_;
};

std::string raw_post(const std::string& path, const std::string& body);

// Waits for something to become true; false when `patience` is over.
bool eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds patience = std::chrono::seconds(5));

// Whether /metrics comes to hold this line: a request is counted just after its reply was sent.
bool eventually_shows(const TestServer& server, const std::string& line);

}  // namespace serving

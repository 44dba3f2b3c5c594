// One streamed request against an OpenAI-compatible server, with the times of what came back.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "serving/bench/workload.h"

namespace serving::bench {

struct ClientOptions {
  std::string url = "http://127.0.0.1:8080";  // scheme, host, port
  std::string endpoint = "completions";       // or chat
  std::string model;                          // empty: not named
  std::string api_key;                        // empty: none
  bool text = false;       // prompts as words, not as token ids (always so for chat)
  bool ignore_eos = true;  // vLLM's extension: answers have the length that was asked for
  double temperature = 0;
  int timeout_s = 600;  // between two chunks
};

struct RequestRecord {
  std::string error;  // empty: the answer is complete
  int status = 0;     // HTTP; 0: no answer came
  std::int64_t sent_ns = 0;
  double ttft_s = 0;          // to the first chunk with text or token ids
  double latency_s = 0;       // to the last such chunk
  std::vector<double> itl_s;  // between chunks
  int input_tokens = 0, output_tokens = 0, cached_tokens = 0;  // by the server's usage
  double late_s = 0;                 // sent so much after its time had come
  std::vector<Token> answer_tokens;  // where the server returns them
  std::string answer_text;

  double tpot_s() const {  // after the first token; 0 where there is only one
    return output_tokens > 1 ? (latency_s - ttft_s) / (output_tokens - 1) : 0;
  }
};

// A conversation so far, in the form that the endpoint takes.
class Prompt {
 public:
  explicit Prompt(const ClientOptions& options) : options_(options) {}
  void ask(const Turn& turn);
  // What the server said; where it does not return token ids, `stand_in` takes their place.
  void answered(const RequestRecord& record, const std::vector<Token>& stand_in);
  // Of a request for an answer of so many tokens.
  std::string body(int output_tokens) const;

 private:
  struct Message {
    bool user;
    std::string text;
  };
  const ClientOptions& options_;
  std::vector<Token> tokens_;
  std::vector<Message> messages_;  // as words
};

// Keeps the connection's parts that can be kept; for one thread.
class Client {
 public:
  explicit Client(const ClientOptions& options) : options_(options) {}
  RequestRecord send(const std::string& body) const;

 private:
  const ClientOptions& options_;
};

// The name of the first model that the server lists; empty where it lists none.
std::string first_model(const ClientOptions& options);

}  // namespace serving::bench

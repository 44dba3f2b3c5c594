// One answer under way: the engine's tokens turned into text as it can be shown.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serving/api/stop_filter.h"
#include "serving/engine/engine.h"
#include "serving/tokenizer/tokenizer.h"

namespace serving {

struct TokenLogprob {
  Token token = 0;
  float logprob = 0;
  std::vector<Logprob> top;
};

// What one step adds to an answer. Text may come later than its tokens.
struct Delta {
  std::string text;
  std::vector<Token> tokens;
  std::vector<TokenLogprob> logprobs;  // one a token where they were asked for
  Finish finish = Finish::none;

  void append(Delta other);
};

class Choice {
 public:
  Choice(std::unique_ptr<Answer> answer, const Tokenizer& tokenizer, std::vector<std::string> stops,
         bool logprobs);

  // Nothing within `wait`: nullopt. Not called after a delta that has a `finish`.
  std::optional<Delta> next(std::chrono::milliseconds wait);
  bool finished() const { return finished_; }
  int tokens() const { return tokens_; }
  int cached_tokens() const { return cached_tokens_; }

 private:
  void stop_engine();

  std::unique_ptr<Answer> answer_;
  std::unique_ptr<Decoder> decoder_;
  StopFilter filter_;
  bool logprobs_;
  bool finished_ = false;
  int tokens_ = 0, cached_tokens_ = 0;
};

}  // namespace serving

// /v1/completions and /v1/chat/completions: from a body to an answer, whole or streamed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serving/api/answer_json.h"
#include "serving/api/chat_template.h"
#include "serving/api/choice.h"
#include "serving/api/completion_call.h"
#include "serving/api/http.h"
#include "serving/api/metrics.h"
#include "serving/engine/engine.h"
#include "serving/tokenizer/tokenizer.h"

namespace serving {

class TokenTrie;

struct CompletionOptions {
  std::string model = "model";            // its name in the API
  int answers = 64;                       // requests answered at a time; beyond: 503
  std::optional<ChatFormat> chat_format;  // absent: recognised from the tokenizer's template
  std::uint64_t seed = 0;                 // what requests without a seed draw theirs from
  std::function<std::int64_t()> unix_s = [] { return 0; };  // for the `created` of answers
};

class Completions {
 public:
  Completions(Engine& engine, const Tokenizer& tokenizer, CompletionOptions options,
              Metrics& metrics);

  void answer(Endpoint endpoint, const HttpRequest& request, Reply& reply);
  int answering() const { return answering_; }

 private:
  // A call whose prompts the engine has taken.
  struct Started {
    std::int64_t begin_ns = 0;  // when the request had arrived
    CompletionCall call;
    std::vector<std::vector<Token>> prompts;
    std::vector<Choice> choices;
  };
  enum class End { complete, disconnected, failed };
  using Take = std::function<bool(std::size_t index, Delta delta)>;

  int answer_admitted(Endpoint endpoint, const HttpRequest& request, Reply& reply,
                      std::int64_t begin_ns);
  ApiResult<Started> start(CompletionCall call, std::int64_t begin_ns);
  ApiResult<std::vector<std::vector<Token>>> tokenise(const CompletionCall& call) const;
  tl::unexpected<ApiError> too_long(std::size_t bytes, const char* param) const;
  ApiResult<Request> engine_request(const CompletionCall& call, const std::vector<Token>& prompt);
  End run(Started& started, Reply& reply, const Take& take);
  int answer_whole(Started& started, AnswerWriter& writer, Reply& reply);
  int answer_streamed(Started& started, AnswerWriter& writer, Reply& reply);
  AnswerHeader header(const CompletionCall& call);
  std::uint64_t draw_seed();

  Engine& engine_;
  const Tokenizer& tokenizer_;
  const CompletionOptions options_;
  Metrics& metrics_;
  Result<ChatFormat> chat_format_;
  std::shared_ptr<const TokenTrie> trie_;
  std::size_t most_prompt_bytes_ = 0;  // text beyond it cannot fit, and is not cut into tokens
  std::atomic<int> answering_ = 0;
  std::atomic<std::uint64_t> calls_ = 0, seeds_ = 0;
};

}  // namespace serving

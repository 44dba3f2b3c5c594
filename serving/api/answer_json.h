// Answers as OpenAI's API writes them: whole, or in chunks of a stream.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "serving/api/choice.h"
#include "serving/api/completion_call.h"

namespace serving {

struct Usage {
  std::size_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
};

// What all of one reply has in common.
struct AnswerHeader {
  Endpoint endpoint = Endpoint::completions;
  std::string id;  // "cmpl-7"
  std::int64_t created_unix_s = 0;
  std::string model;
  bool logprobs = false, token_ids = false, usage_in_chunks = false;
};

class AnswerWriter {
 public:
  AnswerWriter(AnswerHeader header, const Tokenizer& tokenizer,
               const std::vector<std::vector<Token>>& prompts);

  // One delta a prompt, each the whole answer to it.
  std::string whole(const std::vector<Delta>& answers, const Usage& usage);
  std::string chunk(std::size_t index, const Delta& delta);
  std::string usage_chunk(const Usage& usage) const;

 private:
  nlohmann::json logprobs(std::size_t index, const Delta& delta);

  AnswerHeader header_;
  const Tokenizer& tokenizer_;
  const std::vector<std::vector<Token>>& prompts_;
  std::string chunk_head_;                 // what all chunks begin with
  std::vector<std::size_t> offset_bytes_;  // of each answer's next token; SIZE_MAX: none was sent
};

// One event of a stream.
std::string sse(std::string_view json);

}  // namespace serving

// What the API asks of the engine: requests in token ids, answers as a stream of tokens. Text, stop
// strings and templates are the API's; batching, caches and sampling are the engine's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "serving/core/result.h"
#include "serving/model/model.h"

namespace serving {

// What may come next, for answers that must follow a grammar. Called by the engine's thread only.
class Constraint {
 public:
  virtual ~Constraint() = default;
  virtual void allow(
      std::vector<bool>& tokens) = 0;  // size of the vocabulary; sets what may not come to false
  virtual void accept(Token token) = 0;
  virtual bool complete() const = 0;  // the answer is whole: nothing more may come
};

struct Sampling {
  float temperature = 1;  // 0: greedy, ties to the smaller id
  float top_p = 1;        // of probability, (0, 1]
  int top_k = 0;          // 0: all
  std::uint64_t seed = 0;
  int top_logprobs = -1;  // how many alternatives to report; -1: no log-probabilities at all
};

struct Request {
  std::vector<Token> prompt;  // at least one
  Sampling sampling;
  int max_tokens = 16;
  bool ignore_eos = false;
  std::vector<Token> end_tokens;  // any of them ends the answer, and is not part of it
  std::shared_ptr<Constraint> constraint;
};

enum class Finish {
  none,
  stop,       // an end token came, or the constraint is complete
  length,     // max_tokens are out
  cancelled,  // by `cancel`, or the answer was dropped
  failed,     // the model or the constraint threw, nothing was allowed to come, or the engine stops
};

struct Logprob {
  Token token = 0;
  float logprob = 0;  // natural, of the model's distribution before temperature and cuts
};

// One step of an answer. The last has a `finish`, and a token only where that token belongs to the
// answer.
struct Step {
  std::optional<Token> token;
  float logprob = 0;
  std::vector<Logprob> top;  // best first
  Finish finish = Finish::none;
  int cached_tokens = 0;  // of the prompt, not computed anew; set in the last step
};

// A request under way; dropping it cancels. `next` is for one thread, `cancel` for any.
class Answer {
 public:
  virtual ~Answer() = default;
  // Nothing within `wait`: nullopt, as always after the step that has a `finish`.
  virtual std::optional<Step> next(std::chrono::milliseconds wait) = 0;
  virtual void cancel() = 0;
};

// Since the start, and now. Once all requests have finished and none was cancelled or failed:
// computed_tokens = prompt_tokens - cached_tokens + (output tokens that were fed back) +
// recomputed_tokens.
struct EngineStats {
  std::uint64_t requests = 0;                                // accepted
  std::uint64_t finished = 0, cancelled = 0, failed = 0;     // finished: with stop or length
  std::uint64_t preempted = 0, steps = 0;                    // times, forwards
  std::uint64_t prompt_tokens = 0, cached_tokens = 0;        // of requests that have ended
  std::uint64_t output_tokens = 0;                           // sampled
  std::uint64_t computed_tokens = 0, recomputed_tokens = 0;  // in forwards; again after preemption
  int waiting = 0, running = 0;
  int pages_used = 0, pages_cached = 0, pages = 0;  // by running requests; by the prefix cache only
  int slots_used = 0, slots_cached = 0, slots = 0;  // likewise; a cached slot is a checkpoint
};

class Engine {
 public:
  virtual ~Engine() = default;
  // bad_input: tokens out of range, no prompt, too long for context or caches; overloaded: the
  // queue is full; unavailable: the engine is stopping.
  virtual Result<std::unique_ptr<Answer>> submit(Request request) = 0;
  virtual EngineStats stats() const = 0;
  virtual const ModelShape& shape() const = 0;
};

}  // namespace serving

// Decides what each step computes. No threads, no clock, no model: it is told what arrived, what
// was sampled and what ended, and says which tokens come next; tests drive it step by step.
//
// A step, in this order:
//  1. Admission. The oldest waiting sequence runs if fewer than max_running do, there is a state
//  slot,
//     and there are pages for its tokens and a page's worth of answer, beyond what those running
//     will need. Nobody overtakes it.
//  2. Decoding. Every running sequence with one token to compute gets it, oldest first.
//  3. Prompts share the rest of max_batch_tokens by the policy, at most chunk_tokens each.
// Where pages run out, the youngest running sequence gives its pages back and waits again, at the
// place of its arrival; never for one younger than itself, and not in a step that has a chunk of
// it. So the oldest always gets on, and no step is empty while anything runs. What was preempted
// computes its prompt and its answer so far anew, as far as the prefix tree does not know them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "serving/core/result.h"
#include "serving/engine/make_engine.h"
#include "serving/engine/sequence.h"
#include "serving/engine/sequence_cache.h"
#include "serving/model/model.h"

namespace serving {

struct PlannedChunk {
  Sequence* sequence;
  int position, count;  // of its tokens
  bool wants_logits;    // these are its last: a token is to be sampled
};

class Scheduler {
 public:
  Scheduler(const ModelShape& shape, const EngineOptions& options);

  // Whether such a request can ever be served; any thread may ask. bad_input: it never fits the
  // context or the caches.
  Status check(std::size_t prompt_tokens, int max_tokens) const;

  // A new sequence; `check` has passed, and ids grow.
  void add(SequenceId id, std::vector<Token> prompt, int max_tokens);

  // The next step. Empty only when idle. The chunks are good until the next call of anything here.
  const std::vector<PlannedChunk>& plan();
  // What is to be done with slots and pages, in order, before that step's forward.
  std::vector<CacheOperation>& operations() { return cache_.operations(); }
  // The forward is done.
  void advance();

  // Between steps:
  void append(SequenceId id, Token token);  // sampled; to be computed next
  void finish(SequenceId id);               // answered or cancelled, running or waiting
  void abandon(SequenceId id);              // its forward failed: what it computed is not kept

  const Sequence& sequence(SequenceId id) const;
  bool idle() const { return waiting_.empty() && running_.empty(); }

  struct Counts {
    std::uint64_t preempted = 0, computed_tokens = 0, recomputed_tokens = 0;
    int waiting = 0, running = 0;
  };
  Counts counts() const;
  const SequenceCache& cache() const { return cache_; }

 private:
  using Sequences = std::map<SequenceId, Sequence>;  // oldest first

  void admit();
  void share_first_come(int budget);
  void share_fairly(int budget);
  int schedule(Sequence& sequence, int wanted);
  bool preempt_younger(const Sequence& than);
  void remove(SequenceId id, bool keep);

  const ModelShape shape_;
  const EngineOptions options_;
  SequenceCache cache_;
  Sequences waiting_, running_;
  std::vector<PlannedChunk> plan_;
  std::vector<Sequence*> prompts_;  // scratch of share_fairly
  Counts counts_;
};

}  // namespace serving

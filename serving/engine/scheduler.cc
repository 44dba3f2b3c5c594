#include "serving/engine/scheduler.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <tuple>
#include <utility>

namespace serving {

Scheduler::Scheduler(const ModelShape& shape, const EngineOptions& options)
    : shape_(shape), options_(options), cache_(shape, options) {}

Status Scheduler::check(std::size_t prompt_tokens, int max_tokens) const {
  if (prompt_tokens == 0) return fail(ErrorCode::bad_input, "the prompt is empty; send a token");
  if (max_tokens < 1) {
    return fail(ErrorCode::bad_input,
                "max_tokens is " + std::to_string(max_tokens) + "; ask for at least 1");
  }
  const auto all = static_cast<std::int64_t>(prompt_tokens) + max_tokens;
  const std::string asked = "the prompt has " + std::to_string(prompt_tokens) +
                            " tokens and max_tokens is " + std::to_string(max_tokens) + "; ";
  if (all > shape_.context) {
    return fail(ErrorCode::bad_input, asked + "together they may be " +
                                          std::to_string(shape_.context) + ", the model's context");
  }
  const std::int64_t room = std::int64_t{shape_.pages} * shape_.page_tokens;
  if (shape_.has_pages && all - 1 > room) {  // the last token is never fed back
    return fail(ErrorCode::bad_input, asked + "the cache has room for " + std::to_string(room) +
                                          "; shorten them or start the engine with more pages");
  }
  return {};
}

void Scheduler::add(SequenceId id, std::vector<Token> prompt, int max_tokens) {
  Sequence sequence;
  sequence.id = id;
  sequence.prompt = static_cast<int>(prompt.size());
  sequence.limit = sequence.prompt + max_tokens - 1;
  sequence.tokens = std::move(prompt);
  const bool added = waiting_.emplace(id, std::move(sequence)).second;
  assert(added);
  (void)added;
}

const std::vector<PlannedChunk>& Scheduler::plan() {
  plan_.clear();
  for (auto& [id, sequence] : running_) sequence.planned = false;
  admit();
  int budget = options_.max_batch_tokens;
  for (auto& [id, sequence] : running_) {
    if (sequence.remaining() == 1) budget -= schedule(sequence, 1);
  }
  options_.policy == Policy::fcfs ? share_first_come(budget) : share_fairly(budget);
  assert(!plan_.empty() || idle());
  return plan_;
}

void Scheduler::admit() {
  int reserved = 0;
  for (const auto& [id, sequence] : running_) reserved += cache_.missing_pages(sequence);
  while (!waiting_.empty() && std::ssize(running_) < options_.max_running) {
    Sequence& oldest = waiting_.begin()->second;
    if (!cache_.admit(oldest, reserved)) break;
    reserved += cache_.missing_pages(oldest);
    // Tokens of the prompt below `reached` are accounted for already, from before a preemption.
    const int known = std::min(oldest.computed, oldest.prompt);
    oldest.cached += std::max(0, known - oldest.reached);
    oldest.reached = std::max(oldest.reached, oldest.computed);
    oldest.planned = false;
    running_.insert(waiting_.extract(waiting_.begin()));
  }
}

void Scheduler::share_first_come(int budget) {
  for (auto& [id, sequence] : running_) {
    if (sequence.planned || budget == 0) continue;
    budget -= schedule(sequence, std::min(sequence.remaining(), budget));
  }
}

// The shortest first, each its share of what is left; so what one leaves over goes to the longer
// ones.
void Scheduler::share_fairly(int budget) {
  prompts_.clear();
  for (auto& [id, sequence] : running_) {
    if (!sequence.planned) prompts_.push_back(&sequence);
  }
  std::ranges::sort(prompts_, {}, [](const Sequence* sequence) {
    return std::tuple(sequence->remaining(), sequence->id);
  });
  auto sharing = static_cast<int>(prompts_.size());
  for (Sequence* const sequence : prompts_) {
    const int share = budget / sharing--;
    if (!running_.contains(sequence->id)) continue;  // preempted for one before it
    budget -= schedule(*sequence, std::min(sequence->remaining(), share));
  }
}

// Plans up to `wanted` of its next tokens; how many.
int Scheduler::schedule(Sequence& sequence, int wanted) {
  const int begin = sequence.computed;
  int end = std::min(begin + std::min(wanted, options_.chunk_tokens), cache_.next_stop(sequence));
  int covered = cache_.grow(sequence, end);
  while (covered < end && preempt_younger(sequence)) covered = cache_.grow(sequence, end);
  end = std::min(end, covered);
  if (end <= begin) return 0;
  sequence.planned = true;
  plan_.push_back({&sequence, begin, end - begin, end == sequence.size()});
  return end - begin;
}

bool Scheduler::preempt_younger(const Sequence& than) {
  for (auto youngest = running_.rbegin(); youngest != running_.rend(); ++youngest) {
    Sequence& victim = youngest->second;
    if (victim.id <= than.id) return false;
    if (victim.planned) continue;
    cache_.release(victim);
    ++counts_.preempted;
    waiting_.insert(running_.extract(victim.id));
    return true;
  }
  return false;
}

void Scheduler::advance() {
  for (const PlannedChunk& chunk : plan_) {
    Sequence& sequence = *chunk.sequence;
    const int end = chunk.position + chunk.count;
    const int fresh = std::max(0, end - sequence.reached);
    counts_.computed_tokens += static_cast<std::uint64_t>(chunk.count);
    counts_.recomputed_tokens += static_cast<std::uint64_t>(chunk.count - fresh);
    sequence.reached = std::max(sequence.reached, end);
    cache_.advance(sequence, chunk.count);
  }
}

void Scheduler::append(SequenceId id, Token token) { running_.at(id).tokens.push_back(token); }

void Scheduler::finish(SequenceId id) { remove(id, true); }

void Scheduler::abandon(SequenceId id) { remove(id, false); }

void Scheduler::remove(SequenceId id, bool keep) {
  if (waiting_.erase(id) > 0) return;
  const auto found = running_.find(id);
  assert(found != running_.end());
  cache_.release(found->second, keep);
  running_.erase(found);
}

const Sequence& Scheduler::sequence(SequenceId id) const {
  const auto found = running_.find(id);
  return found != running_.end() ? found->second : waiting_.at(id);
}

Scheduler::Counts Scheduler::counts() const {
  Counts counts = counts_;
  counts.waiting = static_cast<int>(waiting_.size());
  counts.running = static_cast<int>(running_.size());
  return counts;
}

}  // namespace serving

// Drives a scheduler over the fake model, step by step in one thread, and poisons whatever nobody
// holds between the steps. And the same answer without any of it: one request alone, no caches to
// share.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "serving/engine/sampler.h"
#include "serving/engine/scheduler.h"
#include "serving/model/fake_model.h"

namespace serving {

struct Job {
  std::vector<Token> prompt;
  int max_tokens = 8;
  Sampling sampling = {.temperature = 0};
};

inline std::vector<Token> iota(int begin, int count, int vocabulary) {
  std::vector<Token> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<Token>((begin + i) % vocabulary));
  return tokens;
}

// What the model says to that request when it has all caches to itself: the first pages and slot 0.
inline std::vector<Token> alone_on(Model& model, const Job& job) {
  const ModelShape& shape = model.shape();
  std::vector<PageId> pages;
  for (PageId page = shape.has_pages ? shape.pages : 0; page-- > 0;) pages.push_back(page);
  if (shape.has_state) model.reset_slot(0);
  std::vector<Token> next = job.prompt, answer;
  std::vector<float> logits;
  Sampler sampler;
  for (int position = 0; std::ssize(answer) < job.max_tokens;) {
    const Chunk chunk{next, position, pages, shape.has_state ? 0 : -1, true};
    model.forward({&chunk, 1}, logits);
    position += static_cast<int>(next.size());
    next = {sampler.choose(logits, job.sampling, answer.size())->token};
    answer.push_back(next[0]);
  }
  return answer;
}

inline std::vector<Token> alone(ModelShape shape, const Job& job) {
  shape.pages = (static_cast<int>(job.prompt.size()) + job.max_tokens) / shape.page_tokens + 1;
  shape.slots = 1;
  FakeModel model(shape);
  return alone_on(model, job);
}

class Driver {
 public:
  Driver(const ModelShape& shape, const EngineOptions& options)
      : options_(options), model_(shape), scheduler_(shape, options) {
    REQUIRE(check_options(options, shape));
  }

  SequenceId add(const Job& job) {
    REQUIRE(scheduler_.check(job.prompt.size(), job.max_tokens));
    jobs_[++last_] = job;
    scheduler_.add(last_, job.prompt, job.max_tokens);
    return last_;
  }

  void cancel(SequenceId id) {
    end(id);
    poison();
  }

  // One step; how many tokens it computed.
  int step() {
    const auto& plan = scheduler_.plan();
    operate();
    const int tokens = forward(plan);
    scheduler_.advance();
    std::size_t row = 0;
    for (const PlannedChunk& chunk : plan) {
      if (chunk.wants_logits) sample(chunk.sequence->id, row++);
    }
    poison();
    scheduler_.cache().tree().assert_consistent();
    ++steps_;
    return tokens;
  }

  void run() {
    while (!scheduler_.idle()) step();
  }

  // Adds, runs to the end, and returns how many tokens were computed for it.
  int cost(const Job& job) {
    const auto before = scheduler_.counts().computed_tokens;
    last_answer_ = add(job);
    run();
    return static_cast<int>(scheduler_.counts().computed_tokens - before);
  }

  const std::vector<Token>& answer(SequenceId id) { return answers_[id]; }
  const std::vector<Token>& last_answer() { return answers_[last_answer_]; }
  bool is_under_way(SequenceId id) const { return jobs_.contains(id); }
  const Scheduler& scheduler() const { return scheduler_; }
  FakeModel& model() { return model_; }
  int steps() const { return steps_; }

  // Of the requests that ended: what became of their prompts' tokens.
  std::uint64_t prompt_tokens = 0, cached_tokens = 0;
  std::uint64_t fed_back = 0;  // output tokens that were computed

 private:
  int forward(const std::vector<PlannedChunk>& plan) {
    std::vector<Chunk> chunks;
    int tokens = 0;
    for (const PlannedChunk& planned : plan) {
      const Sequence& sequence = *planned.sequence;
      CHECK(planned.count <= options_.chunk_tokens);
      tokens += planned.count;
      chunks.push_back({std::span<const Token>(sequence.tokens)
                            .subspan(static_cast<std::size_t>(planned.position),
                                     static_cast<std::size_t>(planned.count)),
                        planned.position, sequence.pages, sequence.slot, planned.wants_logits});
    }
    CHECK(tokens <= options_.max_batch_tokens);
    CHECK(std::ssize(plan) <= options_.max_running);
    model_.forward(chunks, logits_);
    return tokens;
  }

  void sample(SequenceId id, std::size_t row) {
    const Job& job = jobs_.at(id);
    const auto width = static_cast<std::size_t>(model_.shape().vocabulary);
    const auto logits = std::span<const float>(logits_).subspan(row * width, width);
    std::vector<Token>& answer = answers_[id];
    answer.push_back(sampler_.choose(logits, job.sampling, answer.size())->token);
    if (std::ssize(answer) == job.max_tokens) return end(id);
    scheduler_.append(id, answer.back());
  }

  void end(SequenceId id) {
    const Sequence& sequence = scheduler_.sequence(id);
    prompt_tokens += static_cast<std::uint64_t>(std::min(sequence.reached, sequence.prompt));
    cached_tokens += static_cast<std::uint64_t>(sequence.cached);
    fed_back += static_cast<std::uint64_t>(std::max(0, sequence.reached - sequence.prompt));
    scheduler_.finish(id);
    jobs_.erase(id);
  }

  void operate() {
    for (const CacheOperation& operation : scheduler_.operations()) {
      if (operation.kind == CacheOperation::Kind::reset_slot) model_.reset_slot(operation.to);
      if (operation.kind == CacheOperation::Kind::copy_slot) {
        model_.copy_slot(operation.from, operation.to);
      }
      if (operation.kind == CacheOperation::Kind::copy_page) {
        model_.copy_page(operation.from, operation.to);
      }
    }
    scheduler_.operations().clear();
  }

  void poison() {
    operate();  // copies may still come from what was given back since
    const PagePool& pages = scheduler_.cache().pages();
    for (PageId page = 0; page < pages.size(); ++page) {
      if (pages.is_free(page)) model_.poison_page(page);
    }
    const SlotPool& slots = scheduler_.cache().slots();
    for (SlotId slot = 0; slot < slots.size(); ++slot) {
      if (slots.is_free(slot)) model_.poison_slot(slot);
    }
  }

  const EngineOptions options_;
  FakeModel model_;
  Scheduler scheduler_;
  Sampler sampler_;
  SequenceId last_ = 0, last_answer_ = 0;
  std::map<SequenceId, Job> jobs_;  // under way
  std::map<SequenceId, std::vector<Token>> answers_;
  std::vector<float> logits_;
  int steps_ = 0;
};

// A model shape for tests: small, its memory given in pages and slots.
inline ModelShape fake_shape(bool has_pages, bool has_state, int pages = 64, int slots = 8) {
  return {.vocabulary = 64,
          .context = 8192,
          .page_tokens = 16,
          .has_pages = has_pages,
          .has_state = has_state,
          .pages = pages,
          .slots = slots};
}

}  // namespace serving

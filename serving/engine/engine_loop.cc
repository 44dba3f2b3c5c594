#include "serving/engine/engine_loop.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "serving/trace/trace.h"

namespace serving {
namespace {

class LoopAnswer final : public Answer {
 public:
  LoopAnswer(std::shared_ptr<Inbox> inbox, std::shared_ptr<Channel> channel, SequenceId id)
      : inbox_(std::move(inbox)), channel_(std::move(channel)), id_(id) {}
  ~LoopAnswer() override {
    if (!ended_) cancel();
  }

  std::optional<Step> next(std::chrono::milliseconds wait) override {
    if (ended_) return {};
    std::optional<Step> step = channel_->pop(wait);
    ended_ = step && step->finish != Finish::none;
    return step;
  }
  void cancel() override { inbox_->cancel(id_); }

 private:
  const std::shared_ptr<Inbox> inbox_;
  const std::shared_ptr<Channel> channel_;
  const SequenceId id_;
  bool ended_ = false;  // of the reading thread
};

Status check_request(const Request& request, const ModelShape& shape) {
  for (const Token token : request.prompt) {
    if (token < 0 || token >= shape.vocabulary) {
      return fail(ErrorCode::bad_input,
                  "token " + std::to_string(token) + " of the prompt is not below " +
                      std::to_string(shape.vocabulary) + ", the size of the vocabulary");
    }
  }
  return check_sampling(request.sampling);
}

bool ends_answer(const Request& request, Token token) {
  return !request.ignore_eos &&
         std::ranges::find(request.end_tokens, token) != request.end_tokens.end();
}

Step last_step(Finish finish) {
  Step step;
  step.finish = finish;
  return step;
}

}  // namespace

std::unique_ptr<Engine> make_engine(std::unique_ptr<Model> model, const EngineOptions& options) {
  return std::make_unique<EngineLoop>(std::move(model), options);
}

EngineLoop::EngineLoop(std::unique_ptr<Model> model, const EngineOptions& options)
    : shape_(model->shape()),
      model_(std::move(model)),
      inbox_(std::make_shared<Inbox>(options.max_running + options.queue_limit)),
      scheduler_(shape_, options) {
  settle();
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Result<std::unique_ptr<Answer>> EngineLoop::submit(Request request) {
  if (Status fits = scheduler_.check(request.prompt.size(), request.max_tokens); !fits) {
    return tl::unexpected(fits.error());
  }
  if (Status valid = check_request(request, shape_); !valid) return tl::unexpected(valid.error());
  auto channel = std::make_shared<Channel>();
  const auto id = inbox_->submit(std::move(request), channel);
  if (!id) return tl::unexpected(id.error());
  return std::make_unique<LoopAnswer>(inbox_, std::move(channel), *id);
}

EngineStats EngineLoop::stats() const {
  std::lock_guard lock(stats_mutex_);
  return stats_;
}

void EngineLoop::run(const std::stop_token& stop) {
  name_trace_lane("engine");
  Mail mail;
  while (inbox_->receive(stop, scheduler_.idle(), mail)) {
    accept(mail);
    if (!scheduler_.idle()) step();
    settle();
  }
  stop_all(mail);
}

void EngineLoop::accept(Mail& mail) {
  for (Submission& submission : mail.submissions) {
    ++counted_.requests;
    scheduler_.add(submission.id, std::move(submission.request.prompt),
                   submission.request.max_tokens);
    live_.emplace(submission.id,
                  Live{std::move(submission.request), std::move(submission.channel), 0});
  }
  for (const SequenceId id : mail.cancelled) {
    if (live_.contains(id)) end(id, last_step(Finish::cancelled));
  }
}

void EngineLoop::step() {
  const std::vector<PlannedChunk>* plan = nullptr;
  {
    TraceSpan span("engine.plan");
    plan = &scheduler_.plan();
    prepare(*plan);
  }
  int tokens = 0;
  for (const PlannedChunk& chunk : *plan) tokens += chunk.count;
  TraceSpan span("engine.step", {"batch", std::ssize(*plan)}, {"tokens", tokens});
  if (!forward()) {
    // What the chunks' slots and pages hold now is unknown; what others may share was complete
    // before.
    for (const PlannedChunk& chunk : *plan) {
      end(chunk.sequence->id, last_step(Finish::failed), false);
    }
    return;
  }
  scheduler_.advance();
  TraceSpan sampling("engine.sample");
  std::size_t row = 0;
  for (const PlannedChunk& chunk : *plan) {
    if (!chunk.wants_logits) continue;
    const auto width = static_cast<std::size_t>(shape_.vocabulary);
    sample(chunk, std::span<const float>(logits_).subspan(width * row++, width));
  }
}

// Carries out what the plan asks of the caches, and lays out its chunks.
void EngineLoop::prepare(const std::vector<PlannedChunk>& plan) {
  for (const CacheOperation& operation : scheduler_.operations()) {
    switch (operation.kind) {
      case CacheOperation::Kind::reset_slot:
        model_->reset_slot(operation.to);
        break;
      case CacheOperation::Kind::copy_slot:
        model_->copy_slot(operation.from, operation.to);
        break;
      case CacheOperation::Kind::copy_page:
        model_->copy_page(operation.from, operation.to);
        break;
    }
  }
  scheduler_.operations().clear();
  chunks_.clear();
  for (const PlannedChunk& planned : plan) {
    const std::span<const Token> tokens(planned.sequence->tokens);
    chunks_.push_back({.tokens = tokens.subspan(static_cast<std::size_t>(planned.position),
                                                static_cast<std::size_t>(planned.count)),
                       .position = planned.position,
                       .pages = planned.sequence->pages,
                       .slot = planned.sequence->slot,
                       .wants_logits = planned.wants_logits});
  }
}

bool EngineLoop::forward() {
  ++counted_.steps;
  try {
    model_->forward(chunks_, logits_);
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine: the model failed in step %llu, and with it %zu requests: %s\n",
                 static_cast<unsigned long long>(counted_.steps), chunks_.size(), error.what());
    return false;
  }
}

void EngineLoop::sample(const PlannedChunk& chunk, std::span<const float> logits) {
  const SequenceId id = chunk.sequence->id;
  Live& live = live_.at(id);
  Step step;
  try {
    const std::optional<Choice> choice = choose(live, logits);
    if (!choice) return end(id, last_step(Finish::failed));
    ++counted_.output_tokens;
    if (ends_answer(live.request, choice->token)) return end(id, last_step(Finish::stop));
    step = {.token = choice->token, .logprob = choice->logprob, .top = choice->top};
    ++live.produced;
    Constraint* const constraint = live.request.constraint.get();
    if (constraint != nullptr) constraint->accept(choice->token);
    if (constraint != nullptr && constraint->complete()) step.finish = Finish::stop;
  } catch (const std::exception& error) {  // of the constraint
    std::fprintf(stderr, "engine: a constraint failed: %s\n", error.what());
    return end(id, last_step(Finish::failed));
  }
  if (step.finish == Finish::none && live.produced == live.request.max_tokens) {
    step.finish = Finish::length;
  }
  if (step.finish != Finish::none) return end(id, std::move(step));
  scheduler_.append(id, *step.token);
  outgoing_.emplace_back(live.channel, std::move(step));
}

std::optional<Choice> EngineLoop::choose(Live& live, std::span<const float> logits) {
  const auto index = static_cast<std::uint64_t>(live.produced);
  Constraint* const constraint = live.request.constraint.get();
  if (constraint == nullptr) return sampler_.choose(logits, live.request.sampling, index);
  allowed_.assign(logits.size(), true);
  constraint->allow(allowed_);
  return sampler_.choose(logits, live.request.sampling, index, &allowed_);
}

// The last step of an answer. What was computed is kept for others unless it is not to be trusted.
void EngineLoop::end(SequenceId id, Step step, bool keep) {
  const Sequence& sequence = scheduler_.sequence(id);
  step.cached_tokens = sequence.cached;
  counted_.prompt_tokens += static_cast<std::uint64_t>(std::min(sequence.reached, sequence.prompt));
  counted_.cached_tokens += static_cast<std::uint64_t>(sequence.cached);
  ++(step.finish == Finish::cancelled ? counted_.cancelled
     : step.finish == Finish::failed  ? counted_.failed
                                      : counted_.finished);
  keep ? scheduler_.finish(id) : scheduler_.abandon(id);
  const auto live = live_.find(id);
  outgoing_.emplace_back(std::move(live->second.channel), std::move(step));
  live_.erase(live);
  ++ended_;
}

// Counts first, then the answers: who has read its last step finds it counted, and a place free.
void EngineLoop::settle() {
  const Scheduler::Counts counts = scheduler_.counts();
  const SequenceCache& cache = scheduler_.cache();
  counted_.preempted = counts.preempted;
  counted_.computed_tokens = counts.computed_tokens;
  counted_.recomputed_tokens = counts.recomputed_tokens;
  counted_.waiting = counts.waiting;
  counted_.running = counts.running;
  counted_.pages = cache.pages().size();
  counted_.pages_used = cache.pages().used();
  counted_.pages_cached = counted_.pages - counted_.pages_used - cache.pages().free();
  counted_.slots = cache.slots().size();
  counted_.slots_cached = cache.tree().checkpoints();
  counted_.slots_used = counted_.slots - counted_.slots_cached - cache.slots().free();
  {
    std::lock_guard lock(stats_mutex_);
    stats_ = counted_;
  }
  inbox_->ended(std::exchange(ended_, 0));
  TraceSpan span("engine.deliver", {"steps", std::ssize(outgoing_)});
  for (auto& [channel, step] : outgoing_) channel->push(std::move(step));
  outgoing_.clear();
}

void EngineLoop::stop_all(Mail& mail) {
  accept(mail);
  while (!live_.empty()) end(live_.begin()->first, last_step(Finish::failed));
  settle();
}

}  // namespace serving

// The engine's one thread: takes what was submitted, has the scheduler plan a step, runs the model,
// samples, and hands the steps to their answers. Nothing is locked during a forward.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serving/engine/engine.h"
#include "serving/engine/inbox.h"
#include "serving/engine/make_engine.h"
#include "serving/engine/sampler.h"
#include "serving/engine/scheduler.h"
#include "serving/model/model.h"

namespace serving {

class EngineLoop final : public Engine {
 public:
  EngineLoop(std::unique_ptr<Model> model, const EngineOptions& options);
  ~EngineLoop() override = default;  // stops and joins the thread, which answers every request

  Result<std::unique_ptr<Answer>> submit(Request request) override;
  EngineStats stats() const override;
  const ModelShape& shape() const override { return shape_; }

 private:
  struct Live {
    Request request;
    std::shared_ptr<Channel> channel;
    int produced = 0;  // tokens of the answer
  };

  // All of these are the thread's.
  void run(const std::stop_token& stop);
  void accept(Mail& mail);
  void step();
  void prepare(const std::vector<PlannedChunk>& plan);
  bool forward();  // false: the model threw
  void sample(const PlannedChunk& chunk, std::span<const float> logits);
  std::optional<Choice> choose(Live& live, std::span<const float> logits);
  void end(SequenceId id, Step step, bool keep = true);
  void settle();
  void stop_all(Mail& mail);

  const ModelShape shape_;
  const std::unique_ptr<Model> model_;
  const std::shared_ptr<Inbox> inbox_;
  Scheduler scheduler_;
  Sampler sampler_;
  std::unordered_map<SequenceId, Live> live_;
  std::vector<std::pair<std::shared_ptr<Channel>, Step>> outgoing_;
  int ended_ = 0;  // requests, since the last settle()
  EngineStats counted_;

  // Scratch of a step.
  std::vector<Chunk> chunks_;
  std::vector<float> logits_;
  std::vector<bool> allowed_;

  mutable std::mutex stats_mutex_;
  EngineStats stats_;  // guarded by stats_mutex_

  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace serving

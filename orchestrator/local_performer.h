// Performs orders on this machine with the real git, the real runner and the real planner.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/queue.h"
#include "orchestrator/gate.h"
#include "orchestrator/lab.h"
#include "orchestrator/llm.h"
#include "orchestrator/orders.h"
#include "orchestrator/target_folder.h"

namespace orchestrator {

struct LocalPerformerOptions {
  std::filesystem::path state;  // the state folder
  Lab::RunnerOf runner_of;
  int benches = 2;          // attempts at a time; the core leases keep them apart
  int slurm_jobs = 8;       // attempts on Slurm at a time; mostly they wait
  Environment environment;  // for the LLM's key
};

class LocalPerformer final : public Performer {
 public:
  LocalPerformer(LocalPerformerOptions options, const base::Clock& clock);
  ~LocalPerformer() override;

  void perform(Order order, Post post) override;
  void stop() override;

  TargetFolders& folders() { return folders_; }

 private:
  struct Item {
    Order order;
    Post post;
  };

  base::Queue<Item>& queue_of(const Order& order);
  void work(base::Queue<Item>& queue, std::stop_token stop);
  base::Result<Completion> carry_out(const Order& order, std::stop_token stop);
  base::Result<Completion> run_attempt(const AttemptOrder& order, std::stop_token stop);
  void end(const StopOrder& order);

  TargetFolders folders_;
  Lab lab_;
  Gate gate_;
  LocalPerformerOptions options_;
  base::Queue<Item> attempts_, on_slurm_, git_, planning_;  // one queue a kind of work
  std::mutex mutex_;
  std::map<hypotheses::ExperimentId, std::stop_source> running_;  // guarded by mutex_
  std::vector<std::jthread> threads_;                             // last: they use all above
};

}  // namespace orchestrator

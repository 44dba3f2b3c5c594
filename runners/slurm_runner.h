// Runs jobs on a Slurm cluster: one job of ours is one batch job on one node, where `nightshift
// run-job` runs its launches as a local runner does. The artifacts must be on a file system that
// the nodes share (docs/slurm.md).
//
//   ticket written ─ sbatch ─ waits ─ runs ─ finished ─ outcome taken, report written, ticket gone
//                      │        └───────┴── lost: node dead, preempted, forgotten ─ a new attempt
//                      └ queue full, controller away: tried again, later and later
//
// A job whose ticket lies on disk is followed, not submitted again: so work survives the daemon.
#pragma once

#include <memory>
#include <mutex>
#include <variant>

#include "base/clock.h"
#include "runners/runner.h"
#include "runners/running_keys.h"
#include "runners/slurm_files.h"
#include "runners/slurm_queue.h"

namespace runners {

struct SlurmRunnerOptions {
  SandboxRule sandbox = SandboxRule::required;  // on the node
  std::filesystem::path worker;       // the nightshift program, at a path that the nodes have too
  std::shared_ptr<SlurmQueue> queue;  // shared by all runners of a cluster
  int attempts = 3;                   // how often a job that was lost is submitted in all
  double patience_s = 3600;           // without a controller, with a full queue, with a stuck job
  double grace_s = 20;                // for files of a job that ended to show up on this machine
};

class SlurmRunner final : public Runner {
 public:
  // The clock must outlive it. `run` may be called from any number of threads; all calls must have
  // returned before it is destroyed.
  SlurmRunner(SlurmRunnerOptions options, const base::Clock& clock);

  base::Result<JobReport> run(const Job& job, std::stop_token stop) override;
  std::string machine() const override;  // "Slurm 22.05.8: main* (2 nodes up), low (2 nodes up)"

 private:
  struct Lost {
    std::string why;
  };
  struct Stopped {};
  struct Finished {};
  using End = std::variant<Finished, Stopped, Lost>;

  base::Result<JobReport> run_attempts(const Job& job, std::stop_token stop);
  // The ticket of a job that Slurm took; nothing when it was stopped before.
  base::Result<std::optional<SlurmTicket>> submit(const Job& job, std::stop_token stop);
  base::Result<End> follow(const Job& job, const SlurmTicket& ticket, std::stop_token stop);
  base::Result<JobReport> stop_job(const Job& job, const SlurmTicket& ticket);
  std::string new_attempt();

  SlurmRunnerOptions options_;
  const base::Clock& clock_;
  std::mutex mutex_;
  RunningKeys running_;
  int attempts_ = 0;  // so far; guarded by mutex_
};

// Version and partitions; unavailable or not_found with what is missing.
base::Result<std::string> slurm_summary();

}  // namespace runners

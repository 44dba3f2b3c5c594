// Carries out one attempt of an experiment: workspaces for its sides, builds where they are stale,
// and the launches back to back.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "orchestrator/orders.h"
#include "orchestrator/slurm_slots.h"
#include "orchestrator/target_folder.h"
#include "runners/runner.h"

namespace orchestrator {

class Lab {
 public:
  enum class Where { here, slurm };
  // `runner_of` gives the runner for a policy's sandbox rule: "required", "auto" or "none".
  using RunnerOf = std::function<runners::Runner&(const std::string& sandbox, Where where)>;
  Lab(TargetFolders& folders, RunnerOf runner_of, const base::Clock& clock)
      : folders_(folders), runner_of_(std::move(runner_of)), clock_(clock) {}

  // The runs of the attempt: builds that were needed (not `measured`), then the launches in order.
  // A side that does not build leaves its run with the first compiler error, and nothing is
  // launched. An error means that the machine, not the candidate, was at fault.
  base::Result<std::vector<hypotheses::Run>> perform(const AttemptOrder& order,
                                                     std::stop_token stop);

 private:
  struct Bench;  // one side, ready to be launched
  // Commands of a build, and the file that says in the build folder what they were run for.
  struct Part {
    const std::vector<std::vector<std::string>>* commands;
    std::string stamp;
  };
  static std::vector<Part> parts_of(const AttemptOrder& order);

  base::Result<Bench> prepare(const AttemptOrder& order, hypotheses::Side side,
                              TargetFolder& folder, std::vector<hypotheses::Run>& runs,
                              std::stop_token stop);
  // The workspace of one side, for as long as the attempt runs.
  LocalSlots::Taken take_slot(const AttemptOrder& order, hypotheses::Side side,
                              TargetFolder& folder, const std::filesystem::path& workspaces);
  base::Result<runners::Job> job_of(const AttemptOrder& order,
                                    const std::map<hypotheses::Side, Bench>& benches);
  base::Result<hypotheses::Run> build(const AttemptOrder& order, hypotheses::Side side,
                                      const Part& part, const store::git::Workspace& workspace,
                                      std::stop_token stop);
  base::Result<runners::Launch> launch_of(const AttemptOrder& order, hypotheses::Side side,
                                          const Bench& bench,
                                          const std::filesystem::path& artifacts);

  TargetFolders& folders_;
  RunnerOf runner_of_;
  const base::Clock& clock_;
  std::atomic<int> builds_ = 0;  // makes each build's key its own
  SlurmSlots slurm_slots_;
};

}  // namespace orchestrator

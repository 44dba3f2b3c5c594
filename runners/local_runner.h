// Runs jobs on this machine: each launch in a bubblewrap sandbox of its own, on cores that it has
// for itself, within its limits, killed with everything it started when its time is over.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "runners/core_leases.h"
#include "runners/gpu_leases.h"
#include "runners/launcher.h"
#include "runners/runner.h"
#include "runners/running_keys.h"
#include "runners/sandbox.h"

namespace runners {

struct LocalRunnerOptions {
  SandboxRule sandbox = SandboxRule::required;
  std::shared_ptr<CorePool> cores;  // shared by all runners of this machine; none = one of its own
  std::string bwrap = "bwrap";      // a name or a path
  std::shared_ptr<GpuPool> gpus = {};  // shared likewise; none = jobs see all GPUs of the machine
};

class LocalRunner final : public Runner {
 public:
  // The clock must outlive it. `run` may be called from any number of threads; all calls must have
  // returned before it is destroyed.
  LocalRunner(LocalRunnerOptions options, const base::Clock& clock);

  base::Result<JobReport> run(const Job& job, std::stop_token stop) override;
  std::string machine() const override;

  // What launches run in: "bubblewrap", or "none (why)". `unavailable` with what is missing and
  // what to do when the rule is `required` and there is none. Probed once, by a real launch.
  base::Result<std::string> sandbox();

 private:
  base::Result<JobReport> run_launches(const Job& job, const std::string& sandbox,
                                       std::stop_token stop);
  std::string bwrap_path();

  LocalRunnerOptions options_;
  const base::Clock& clock_;
  LauncherPool launchers_;
  std::mutex mutex_;
  std::optional<SandboxState> state_;  // guarded by mutex_
  RunningKeys running_;
};

// Kills what jobs with artifacts below this folder left behind when their daemon was killed;
// returns how many processes. In the sandbox there are none: they die with the daemon. What runs
// for a Slurm job on this machine is no leftover: it is taken up again. Call it before the first
// job (after a restart); it must not run beside jobs of the same folder.
int reclaim_leftovers(const std::filesystem::path& artifacts_root);

}  // namespace runners

#include "runners/local_runner.h"

#include <fmt/format.h>

#include "base/log.h"
#include "runners/job_folder.h"
#include "runners/local_launch.h"
#include "runners/machine_state.h"
#include "runners/slurm_files.h"

namespace runners {
namespace {

constexpr const char* kBubblewrap = "bubblewrap";

bool went_well(const LaunchReport& report) {
  return report.ending == Ending::exited && report.exit_code == 0;
}

}  // namespace

LocalRunner::LocalRunner(LocalRunnerOptions options, const base::Clock& clock)
    : options_(std::move(options)), clock_(clock) {
  if (!options_.cores) options_.cores = std::make_shared<CorePool>(CorePool::usable_cores());
}

std::string LocalRunner::machine() const { return machine_name(); }

base::Result<std::string> LocalRunner::sandbox() {
  if (options_.sandbox == SandboxRule::none) return std::string("none (set by the policy)");
  std::lock_guard lock(mutex_);
  if (!state_) {
    state_ = probe_sandbox(options_.bwrap, *launchers_.take());
    if (!state_->works && options_.sandbox == SandboxRule::automatic) {
      base::log_warning(fmt::format(
          "no sandbox, so what is run can read and write all that this user can: {}", state_->why));
    }
  }
  if (state_->works) return std::string(kBubblewrap);
  if (options_.sandbox == SandboxRule::automatic) return "none (" + state_->why + ")";
  return base::fail(
      base::ErrorCode::unavailable,
      fmt::format("the policy requires a sandbox and it cannot start: {}", state_->why), "sandbox");
}

base::Result<JobReport> LocalRunner::run(const Job& job, std::stop_token stop) {
  NS_TRY(check_job(job));
  RunningKeys::Entry entry(running_, job.key);
  if (!entry.entered()) {
    return base::fail(base::ErrorCode::conflict, "the job is running already", job.key);
  }
  NS_ASSIGN(adopted, adopt_report(job));
  if (adopted) return std::move(*adopted);
  NS_ASSIGN(box, sandbox());
  std::error_code error;
  if (std::filesystem::exists(job.artifacts, error)) {
    kill_marked(job.artifacts, base::Marked::exactly);
  }
  NS_TRY(prepare_folder(job));
  NS_ASSIGN(report, run_launches(job, box, stop));
  for (const auto& launch : report.launches) {
    if (launch.ending == Ending::cancelled) return report;  // not done: asked again, it runs anew
  }
  NS_TRY(write_report(job, report));
  return report;
}

base::Result<JobReport> LocalRunner::run_launches(const Job& job, const std::string& sandbox,
                                                  std::stop_token stop) {
  JobReport report;
  report.key = job.key;
  // Devices before cores: a job that waits for a device must not keep cores from others.
  std::optional<CorePool::Lease> gpus;
  if (options_.gpus) {
    auto leased = options_.gpus->acquire(job.gpus, stop);
    if (!leased && !stop.stop_requested()) return tl::unexpected<base::Error>(leased.error());
    if (leased && *leased) gpus.emplace(std::move(**leased));
  }
  auto lease = options_.cores->acquire(job.purpose, job.cores, stop);
  if (!lease && !stop.stop_requested()) return tl::unexpected<base::Error>(lease.error());
  auto launcher = launchers_.take();
  LaunchSite site{*launcher,
                  clock_,
                  sandbox == kBubblewrap ? bwrap_path() : "",
                  sandbox,
                  lease ? lease->cores() : std::vector<int>(),
                  gpus ? std::optional(gpus->cores()) : std::nullopt};
  double start_s = clock_.monotonic_s();
  for (const auto& launch : job.launches) {
    if (stop.stop_requested()) {
      report.launches.push_back(cancelled_launch(job, launch));
      continue;
    }
    NS_ASSIGN(done, launch_here(job, launch, site, stop));
    bool failed = !went_well(done);
    report.launches.push_back(std::move(done));
    if (failed && job.stop_at_failure && !stop.stop_requested()) break;
  }
  report.wall_s = clock_.monotonic_s() - start_s;
  return report;
}

std::string LocalRunner::bwrap_path() {
  std::lock_guard lock(mutex_);
  return state_->bwrap;
}

int reclaim_leftovers(const std::filesystem::path& artifacts_root) {
  return kill_marked(artifacts_root, base::Marked::below, kSlurmMark);
}

}  // namespace runners

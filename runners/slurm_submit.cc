#include "runners/slurm_submit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files.h"

namespace runners {
namespace fs = std::filesystem;
namespace {

constexpr double kAround_s = 60;
constexpr const char* kScript = "script";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
  return text;
}

// Slurm counts in whole minutes.
long minutes(double seconds) {
  constexpr double kYear = 365 * 24 * 60;
  return static_cast<long>(std::clamp(std::ceil(seconds / 60), 1.0, kYear));
}

}  // namespace

double wall_limit_s(const Job& job) {
  double sum = kAround_s;
  for (const Launch& launch : job.launches) sum += launch.limits.timeout_s;
  return sum;
}

std::vector<std::string> sbatch_arguments(const Job& job, const SlurmTicket& ticket,
                                          const fs::path& worker) {
  const hypotheses::SlurmResources wanted = job.slurm.value_or(hypotheses::SlurmResources());
  const fs::path attempt = attempt_folder(job.artifacts, ticket.attempt);
  const double time_s = wanted.time_s > 0 ? wanted.time_s : wall_limit_s(job);
  std::vector<std::string> arguments = {
      "sbatch", "--parsable", "--job-name=" + ticket.name, "--comment=nightshift " + job.key,
      // A job that Slurm starts again by itself would run beside its first, orphaned start.
      "--no-requeue", "--nodes=1", "--ntasks=1", fmt::format("--cpus-per-task={}", job.cores),
      fmt::format("--time={}", minutes(time_s)), "--chdir=" + attempt.string(),
      "--output=" + log_file(attempt).string(),
      // The daemon's environment holds secrets, and would make results depend on who started it.
      "--export=PATH=/usr/local/bin:/usr/bin:/bin"};
  if (wanted.exclusive) {
    arguments.insert(arguments.end(), {"--exclusive", "--mem=0"});
  }
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) arguments.push_back(fmt::format("--{}={}", option, value));
  };
  add("partition", wanted.partition);
  add("constraint", wanted.constraint);
  add("account", wanted.account);
  add("qos", wanted.qos);
  const std::string gpus = job.gpus > 0 ? fmt::format("gpu:{}", job.gpus) : "";
  add("gres", wanted.gres.empty() ? gpus : wanted.gres);
  arguments.insert(arguments.end(),
                   {(attempt / kScript).string(), worker.string(), spec_file(attempt).string()});
  return arguments;
}

base::Status write_script(const fs::path& attempt) {
  return base::write_file_atomically(attempt / kScript, "#!/bin/sh\nexec \"$1\" run-job \"$2\"\n");
}

bool is_passing(const std::string& refusal) {
  const std::string text = lower(refusal);
  for (const char* part :
       {"unable to contact slurm controller", "temporarily", "timed out", "connection refused",
        "connection reset", "zero bytes were transmitted", "not responding", "standby mode",
        "job submit limit", "job array or max jobs", "authentication credential",
        "authentication error", "failed to connect to socket", "too many"}) {
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

bool is_stuck(const std::string& reason) {
  for (const char* word :
       {"JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue", "launch_failed_requeued_held",
        "BadConstraints", "PartitionNodeLimit", "PartitionTimeLimit", "InvalidAccount",
        "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed", "ReservationDeleted",
        "DependencyNeverSatisfied", "BurstBufferStageIn"}) {
    if (reason == word) return true;
  }
  return false;
}

}  // namespace runners

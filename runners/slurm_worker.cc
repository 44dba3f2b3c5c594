#include "runners/slurm_worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "base/files.h"
#include "runners/job_folder.h"
#include "runners/local_runner.h"
#include "runners/slurm_command.h"
#include "runners/slurm_files.h"

namespace runners {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Why this attempt is not to run: another one counts by now, or Slurm starts it a second time while
// the first may still be running somewhere.
std::string why_not(const SlurmSpec& spec) {
  const std::string restarts = environment("SLURM_RESTART_COUNT");
  if (!restarts.empty() && restarts != "0") return "Slurm started it a second time";
  auto ticket = read_ticket(spec.artifacts);
  if (!ticket || ticket->attempt != spec.attempt) return "another attempt counts by now";
  return "";
}

// Slurm sends its end signals to every process of the job, so a program may die of one a moment
// before ours arrives; such an end says nothing about the program.
bool is_stopped(const JobReport& report, std::stop_token stop) {
  constexpr double kMoment_s = 1;
  const bool suspicious =
      std::any_of(report.launches.begin(), report.launches.end(), [](const LaunchReport& launch) {
        return launch.ending == Ending::signalled &&
               (launch.signal == SIGTERM || launch.signal == SIGKILL);
      });
  return suspicious ? !wait_unless_stopped(kMoment_s, stop) : stop.stop_requested();
}

// The node by Slurm's name, where that differs from the host's.
void name_node(JobReport& report) {
  const std::string node = environment("SLURMD_NODENAME");
  for (LaunchReport& launch : report.launches) {
    std::string& machine = launch.machine.machine;
    if (!node.empty() && !machine.empty() && !machine.starts_with(node + " ")) {
      machine = node + " on " + machine;
    }
  }
}

// Slurm says which of the node's devices are ours; nothing else of its environment is passed on.
void pass_devices_on(Job& job) {
  const std::string devices = environment("CUDA_VISIBLE_DEVICES");
  for (Launch& launch : job.launches) {
    if (job.gpus > 0 && !devices.empty()) launch.env.emplace("CUDA_VISIBLE_DEVICES", devices);
  }
}

base::Status write_outcome(SlurmSpec& spec, std::stop_token stop, const base::Clock& clock,
                           bool& stopped) {
  pass_devices_on(spec.job);
  const std::filesystem::path& folder = spec.job.artifacts;
  LocalRunner runner({spec.sandbox, nullptr, "bwrap"}, clock);
  auto report = runner.run(spec.job, stop);
  if (!report) {
    report.error().context += fmt::format(" (on node {})", environment("SLURMD_NODENAME"));
    NS_TRY(write_error(folder, report.error()));
    return base::write_file_atomically(finished_file(folder), "");
  }
  name_node(*report);
  NS_TRY(write_report(spec.job, *report));
  stopped = is_stopped(*report, stop);
  return base::write_file_atomically(stopped ? stopped_file(folder) : finished_file(folder), "");
}

}  // namespace

int run_slurm_job(const std::filesystem::path& spec_path, std::stop_token stop,
                  const base::Clock& clock) {
  auto spec = read_spec(spec_path);
  if (!spec) {
    std::cerr << "nightshift run-job: " << spec.error().text() << std::endl;
    return 1;
  }
  if (std::string why = why_not(*spec); !why.empty()) {
    std::cerr << "nightshift run-job: nothing was run: " << why << std::endl;
    return 1;
  }
  bool stopped = false;
  if (auto written = write_outcome(*spec, stop, clock, stopped); !written) {
    std::cerr << "nightshift run-job: " << written.error().text() << std::endl;
    return 1;
  }
  return stopped ? 1 : 0;
}

}  // namespace runners

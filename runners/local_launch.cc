#include "runners/local_launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "base/files.h"
#include "base/os_error.h"
#include "base/process_list.h"
#include "runners/capture.h"
#include "runners/gpu_leases.h"
#include "runners/job_folder.h"
#include "runners/machine_state.h"

namespace runners {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPath = "/usr/local/bin:/usr/bin:/bin";
constexpr int kSignals = 64;
constexpr std::uint64_t kOpenFiles = 4096;

Environment environment_of(const Job& job, const Launch& launch) {
  Environment env = launch.env;
  std::string scratch = scratch_folder(job, launch);
  env.emplace("PATH", kPath);
  env.emplace("LANG", "C.UTF-8");
  env.emplace("HOME", scratch);
  env.emplace("TMPDIR", scratch);
  env["PWD"] = launch.tree;
  env[kJobVariable] = job.artifacts;
  return env;
}

std::vector<fs::path> devices_of(const Job& job, const LaunchSite& site) {
  if (job.gpus <= 0) return {};
  return gpu_files("/dev", site.gpus ? *site.gpus : GpuPool::usable_gpus("/dev", nullptr));
}

// rlimits hold each process alone; where a control group holds the whole job, memory and the number
// of processes are left to it.
std::vector<base::ResourceLimit> resource_limits(const Job& job, const Launch& launch,
                                                 bool grouped) {
  auto bytes = [](std::int64_t n) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(n, 0));
  };
  std::vector<base::ResourceLimit> limits = {{RLIMIT_CORE, 0},
                                             {RLIMIT_FSIZE, bytes(launch.limits.file_bytes)}};
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    limits.push_back({RLIMIT_NOFILE, std::min<std::uint64_t>(kOpenFiles, files.rlim_max)});
  }
  if (grouped) return limits;
  // CUDA reserves far more address space than it uses, so there only writable data is counted.
  limits.push_back({job.gpus > 0 ? RLIMIT_DATA : RLIMIT_AS, bytes(launch.limits.memory_bytes)});
  // The kernel counts all threads of the user, not of the job, and nothing for root.
  int processes = launch.limits.processes + base::threads_of_user(::getuid());
  limits.push_back({RLIMIT_NPROC, bytes(processes)});
  return limits;
}

// Everything that has to live while the launch runs.
struct Stage {
  Capture out, err;
  const ControlGroup* group = nullptr;  // none, or without limits
  long memory_kills = 0;                // of the group, before the launch
  base::Command command;
  base::Fd options;                    // bubblewrap reads its options from here ...
  base::Fd status_read, status_write;  // ... and writes here whether the program was started
};

base::Status add_sandbox(Stage& stage, const Job& job, const Launch& launch, const Environment& env,
                         const LaunchSite& site) {
  auto plan = plan_sandbox(job, launch, env, devices_of(job, site));
  NS_ASSIGN(options, options_file(sandbox_options(plan)));
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return base::os_fail(errno, "make a pipe", "");
  stage.options = std::move(options);
  stage.status_read = base::Fd(fds[0]);
  stage.status_write = base::Fd(fds[1]);
  auto& command = stage.command;
  command.argv = {site.bwrap,
                  "--args",
                  std::to_string(stage.options.get()),
                  "--json-status-fd",
                  std::to_string(stage.status_write.get()),
                  "--"};
  command.argv.insert(command.argv.end(), launch.argv.begin(), launch.argv.end());
  command.env = {fmt::format("{}={}", kJobVariable, job.artifacts.string())};
  command.keep = {stage.options.get(), stage.status_write.get()};
  return {};
}

base::Result<Stage> set_stage(const Job& job, const Launch& launch, const LaunchSite& site) {
  NS_ASSIGN(out, Capture::open(out_file(job, launch), launch.limits.output_bytes));
  NS_ASSIGN(err, Capture::open(err_file(job, launch), launch.limits.output_bytes));
  Stage stage{std::move(out), std::move(err), nullptr, 0, {}, {}, {}, {}};
  const ControlGroup* group = site.launcher.group();
  if (group != nullptr && group->limit(launch.limits.memory_bytes, launch.limits.processes)) {
    stage.group = group;
    stage.memory_kills = group->memory_kills();
    stage.command.groups = group->join_files();
  }
  Environment env = environment_of(job, launch);
  if (job.gpus > 0 && site.gpus) env.merge(gpu_environment(*site.gpus));
  auto& command = stage.command;
  if (site.bwrap.empty()) {
    command.argv = launch.argv;
    for (const auto& [name, value] : env) command.env.push_back(name + "=" + value);
    command.folder = launch.tree;
  } else {
    NS_TRY(add_sandbox(stage, job, launch, env, site));
  }
  command.out = stage.out.write_end();
  command.err = stage.err.write_end();
  command.cores = site.cores;
  command.limits = resource_limits(job, launch, stage.group != nullptr);
  return stage;
}

// Why the launch cannot start, found before anything is started; empty = nothing found. The program
// is looked up as the job will see it: relative to the tree, along its own PATH.
std::string obstacle(const Job& job, const Launch& launch, std::string& program) {
  std::error_code error;
  if (!fs::is_directory(launch.tree, error)) {
    return fmt::format("its working folder does not exist: {}", launch.tree.string());
  }
  if (!launch.build.empty() && !fs::is_directory(launch.build, error)) {
    return fmt::format("its build folder does not exist: {}", launch.build.string());
  }
  std::string name = launch.argv[0];
  if (name.find('/') != std::string::npos && name[0] != '/') name = launch.tree / name;
  auto found = base::find_program(name, environment_of(job, launch)["PATH"]);
  if (!found) return found.error().message;
  program = *found;
  return "";
}

std::string last_line(const fs::path& file) {
  std::string text = base::read_file(file).value_or("");
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  auto start = text.rfind('\n');
  return start == std::string::npos ? text : text.substr(start + 1);
}

// bubblewrap reports an exit code exactly when the program was started; a program that a signal
// ended has 128 + signal there, as with a shell.
void read_ending(LaunchReport& report, const base::Ended& ended, const std::string* status) {
  if (ended.signalled) {
    report.ending = Ending::signalled;
    report.signal = ended.value;
  } else if (status != nullptr && status->find("\"exit-code\"") == std::string::npos) {
    report.ending = Ending::not_started;
    report.detail = "the sandbox could not start it: " + last_line(report.err);
  } else if (status != nullptr && ended.value > 128 && ended.value <= 128 + kSignals) {
    report.ending = Ending::signalled;
    report.signal = ended.value - 128;
  } else {
    report.ending = Ending::exited;
    report.exit_code = ended.value;
  }
}

void note_limits(LaunchReport& report, const Launch& launch, const Stage& stage) {
  auto note = [&](std::string text) {
    report.detail += (report.detail.empty() ? "" : "; ") + std::move(text);
  };
  report.output_cut = stage.out.cut() || stage.err.cut();
  if (report.output_cut) {
    note(fmt::format("its output was cut at {} bytes", launch.limits.output_bytes));
  }
  if (stage.group != nullptr && stage.group->memory_kills() > stage.memory_kills) {
    note(fmt::format("out of memory: its limit is {} MiB", launch.limits.memory_bytes >> 20));
  }
  if (report.ending == Ending::signalled && report.signal == SIGXFSZ) {
    note(fmt::format("a file grew over its limit of {} MiB", launch.limits.file_bytes >> 20));
  }
  if (report.ending == Ending::timed_out) {
    note(fmt::format("killed at its time limit of {} s", launch.limits.timeout_s));
  }
}

// Starts it and blocks until nothing of it is left.
base::Status run_stage(Stage& stage, const Launch& launch, const LaunchSite& site,
                       const DiskWatch& disks, std::stop_token stop, LaunchReport& report) {
  double start_s = site.clock.monotonic_s();
  auto tree = site.launcher.start(stage.command);
  stage.out.close_write_end();
  stage.err.close_write_end();
  stage.status_write.close();
  if (!tree) {
    report.ending = Ending::not_started;
    report.detail = tree.error().text();
    return {};
  }
  WatchEnd end = watch(*tree, stage.out, stage.err, launch.limits.timeout_s, disks, stop);
  report.wall_s = site.clock.monotonic_s() - start_s;
  base::TreeUsage usage = tree->end_all();
  report.cpu_s = usage.cpu_s;
  report.peak_bytes = usage.peak_bytes;
  // All writers are dead, so both pipes have an end.
  while (!stage.out.at_end()) stage.out.drain();
  while (!stage.err.at_end()) stage.err.drain();
  if (end == WatchEnd::stopped) {
    report.ending = Ending::cancelled;
  } else if (end == WatchEnd::timed_out) {
    report.ending = Ending::timed_out;
  } else if (end == WatchEnd::disk_filled) {
    report.ending = Ending::signalled;
    report.signal = SIGKILL;
    report.detail = fmt::format("killed while it filled the disk: {} MiB are allowed",
                                launch.limits.disk_bytes >> 20);
  } else {
    std::string status = stage.status_read ? read_to_end(stage.status_read.get()) : "";
    read_ending(report, tree->wait(0).value_or(base::Ended{true, SIGKILL}),
                stage.status_read ? &status : nullptr);
  }
  for (const auto* stream : {&stage.out, &stage.err}) {
    if (stream->error()) return tl::unexpected<base::Error>(*stream->error());
  }
  return {};
}

}  // namespace

base::Result<LaunchReport> launch_here(const Job& job, const Launch& launch, const LaunchSite& site,
                                       std::stop_token stop) {
  LaunchReport report;
  report.name = launch.name;
  report.out = out_file(job, launch);
  report.err = err_file(job, launch);
  report.started = site.clock.now();
  NS_TRY(base::ensure_folder(scratch_folder(job, launch)));
  if (job.purpose == Purpose::build && !launch.build.empty())
    NS_TRY(base::ensure_folder(launch.build));
  MachineWatch machine(site.cores);
  NS_ASSIGN(stage, set_stage(job, launch, site));
  std::string program;
  report.detail = obstacle(job, launch, program);
  if (report.detail.empty()) {
    if (site.bwrap.empty()) stage.command.argv[0] = program;
    std::vector<fs::path> written = launch.writable;
    written.insert(written.end(), {launch.build, scratch_folder(job, launch)});
    const DiskWatch disks(written, launch.limits.disk_bytes);
    NS_TRY(run_stage(stage, launch, site, disks, stop, report));
    // A guard that was killed leaves orphans; they still carry the mark.
    if (site.bwrap.empty()) kill_marked(job.artifacts, base::Marked::exactly);
  }
  note_limits(report, launch, stage);
  report.machine = machine.finish(report.wall_s, report.cpu_s);
  if (job.purpose == Purpose::build) report.machine.disturbed.clear();
  report.machine.built = compiler_of(launch.build);
  report.machine.sandbox = site.sandbox;
  NS_TRY(base::remove_tree(scratch_folder(job, launch)));
  return report;
}

int kill_marked(const fs::path& folder, base::Marked marked, std::string_view unless) {
  constexpr int kRounds = 20;
  std::string prefix = folder.lexically_normal().string();
  while (prefix.size() > 1 && prefix.ends_with('/')) prefix.pop_back();
  int count = 0;
  for (int round = 0; round < kRounds; ++round) {
    int found = base::kill_all(
        [&] { return base::marked_processes(kJobVariable, prefix, marked, unless); });
    if (found == 0) break;
    count += found;
  }
  return count;
}

}  // namespace runners

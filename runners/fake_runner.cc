#include "runners/fake_runner.h"

#include <fmt/format.h>

#include "runners/job_folder.h"

namespace runners {
namespace {

// Keeps at most the bound of what a launch printed; true when something was cut.
bool cut(std::string& text, std::int64_t limit_bytes) {
  if (static_cast<std::int64_t>(text.size()) <= limit_bytes) return false;
  text.resize(static_cast<std::size_t>(limit_bytes));
  return true;
}

void apply_limits(LaunchReport& report, FakeLaunch& launch, const Limits& limits) {
  auto note = [&](std::string text) {
    report.detail += (report.detail.empty() ? "" : "; ") + std::move(text);
  };
  bool cut_out = cut(launch.out, limits.output_bytes);
  bool cut_err = cut(launch.err, limits.output_bytes);
  report.output_cut = cut_out || cut_err;
  if (report.output_cut) note(fmt::format("its output was cut at {} bytes", limits.output_bytes));
  if (report.wall_s > limits.timeout_s) {
    report.ending = Ending::timed_out;
    report.wall_s = limits.timeout_s;
    note(fmt::format("killed at its time limit of {} s", limits.timeout_s));
  }
}

LaunchReport empty_report(const Job& job, const Launch& launch) {
  LaunchReport report;
  report.name = launch.name;
  report.out = out_file(job, launch);
  report.err = err_file(job, launch);
  return report;
}

}  // namespace

base::Result<LaunchReport> FakeRunner::launch(const Job& job, const Launch& launch,
                                              std::stop_token stop) {
  LaunchReport report = empty_report(job, launch);
  report.started = clock_.now();
  {
    std::lock_guard lock(mutex_);
    launched_.push_back(job.key + ": " + launch.name);
  }
  FakeLaunch done = script_(job, launch);
  report.ending = done.ending;
  report.detail = done.detail;
  report.wall_s = done.wall_s;
  apply_limits(report, done, launch.limits);
  if (stop.stop_requested()) report.ending = Ending::cancelled;
  if (report.ending == Ending::exited) report.exit_code = done.exit_code;
  if (report.ending == Ending::signalled) report.signal = done.signal;
  report.machine.machine = machine();
  report.machine.sandbox = "none (fake)";
  if (report.ending == Ending::not_started) return report;
  NS_TRY(base::write_file_atomically(report.out, done.out, durability_));
  NS_TRY(base::write_file_atomically(report.err, done.err, durability_));
  return report;
}

base::Result<JobReport> FakeRunner::run(const Job& job, std::stop_token stop) {
  NS_TRY(check_job(job));
  NS_ASSIGN(adopted, adopt_report(job));
  if (adopted) return std::move(*adopted);
  NS_TRY(prepare_folder(job));
  JobReport report;
  report.key = job.key;
  bool is_cancelled = false;
  for (const auto& launch : job.launches) {
    if (stop.stop_requested()) {
      report.launches.push_back(empty_report(job, launch));
      report.launches.back().ending = Ending::cancelled;
      is_cancelled = true;
      continue;
    }
    NS_ASSIGN(done, this->launch(job, launch, stop));
    bool failed = done.ending != Ending::exited || done.exit_code != 0;
    is_cancelled = is_cancelled || done.ending == Ending::cancelled;
    report.wall_s += done.wall_s;
    report.launches.push_back(std::move(done));
    if (failed && job.stop_at_failure && !stop.stop_requested()) break;
  }
  if (is_cancelled) return report;  // not done: asked again, it runs anew
  NS_TRY(write_report(job, report, durability_));
  return report;
}

std::vector<std::string> FakeRunner::launched() const {
  std::lock_guard lock(mutex_);
  return launched_;
}

}  // namespace runners

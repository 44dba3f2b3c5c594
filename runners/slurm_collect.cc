#include "runners/slurm_collect.h"

#include "base/files.h"
#include "base/os_error.h"
#include "runners/job_folder.h"

namespace runners {
namespace fs = std::filesystem;
namespace {

// Fine when it was moved before a crash.
base::Status move_file(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error || (error == std::errc::no_such_file_or_directory && fs::exists(to))) return {};
  return base::os_fail(error.value(), "move " + from.string(), to);
}

base::Status move_outputs(const Job& job, JobReport& report) {
  for (LaunchReport& launch : report.launches) {
    for (fs::path* file : {&launch.out, &launch.err}) {
      const fs::path to = job.artifacts / file->filename();
      // One that was stopped before it began has printed nothing.
      if (launch.ending != Ending::cancelled || fs::exists(*file)) NS_TRY(move_file(*file, to));
      *file = to;
    }
  }
  return {};
}

base::Result<std::optional<JobReport>> report_of(const Job& job, const SlurmTicket& ticket) {
  Job there = job;
  there.artifacts = attempt_folder(job.artifacts, ticket.attempt);
  NS_ASSIGN(report, adopt_report(there));
  if (report) report->adopted = false;
  return report;
}

base::Status clear(const Job& job, const SlurmTicket& ticket) {
  std::error_code ignored;  // the log is for people; it may be absent
  fs::rename(log_file(attempt_folder(job.artifacts, ticket.attempt)), job.artifacts / "slurm.log",
             ignored);
  NS_TRY(remove_attempts(job.artifacts, ""));
  return remove_ticket(job.artifacts);
}

}  // namespace

JobReport cancelled_report(const Job& job) {
  JobReport report;
  report.key = job.key;
  for (const Launch& launch : job.launches) {
    report.launches.push_back(cancelled_launch(job, launch));
  }
  return report;
}

base::Result<std::optional<JobReport>> collect(const Job& job, const SlurmTicket& ticket) {
  if (auto error = read_error(attempt_folder(job.artifacts, ticket.attempt))) {
    NS_TRY(clear(job, ticket));
    return tl::unexpected<base::Error>(*error);
  }
  NS_ASSIGN(report, report_of(job, ticket));
  if (!report) return std::optional<JobReport>();
  NS_TRY(move_outputs(job, *report));
  NS_TRY(write_report(job, *report));
  NS_TRY(clear(job, ticket));
  return report;
}

base::Result<JobReport> collect_stopped(const Job& job, const SlurmTicket& ticket) {
  NS_TRY(remove_ticket(job.artifacts));
  const fs::path attempt = attempt_folder(job.artifacts, ticket.attempt);
  if (!fs::exists(stopped_file(attempt))) return cancelled_report(job);  // it may still be writing
  NS_ASSIGN(report, report_of(job, ticket));
  if (!report) return cancelled_report(job);
  NS_TRY(move_outputs(job, *report));
  for (std::size_t i = report->launches.size(); i < job.launches.size(); ++i) {
    report->launches.push_back(cancelled_launch(job, job.launches[i]));
  }
  NS_TRY(clear(job, ticket));
  return std::move(*report);
}

}  // namespace runners

#include "runners/slurm_runner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/files.h"
#include "base/log.h"
#include "runners/job_folder.h"
#include "runners/slurm_collect.h"
#include "runners/slurm_command.h"
#include "runners/slurm_submit.h"
#include "runners/slurm_watch.h"

namespace runners {
namespace fs = std::filesystem;
using base::ErrorCode;
namespace {

constexpr double kSbatchLimit_s = 20;
constexpr double kCancelLimit_s = 2;  // a stop has to be over in 5 s
constexpr double kStopLimit_s = 2.5;  // for the node to end what runs
constexpr double kLook_s = 0.05;
constexpr double kLongestPause_s = 60;

std::string log_tail(const fs::path& file) {
  std::istringstream lines(base::read_file(file).value_or(""));
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
  }
  return last.empty() ? "" : " (its log ends: " + last + ")";
}

void cancel_now(SlurmQueue& queue, const std::string& name) {
  queue.cancel(name);  // until Slurm says that it is over
  (void)run_command({"scancel", "--name=" + name}, kCancelLimit_s, {});
}

}  // namespace

SlurmRunner::SlurmRunner(SlurmRunnerOptions options, const base::Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

std::string SlurmRunner::machine() const {
  auto summary = slurm_summary();
  return summary ? *summary : "no Slurm: " + summary.error().message;
}

// Unlike that of every other attempt on this shared file system.
std::string SlurmRunner::new_attempt() {
  std::lock_guard lock(mutex_);
  return fmt::format("{:x}-{:x}-{}", clock_.now().ms, ::getpid(), ++attempts_);
}

base::Result<JobReport> SlurmRunner::run(const Job& job, std::stop_token stop) {
  NS_TRY(check_job(job));
  RunningKeys::Entry entry(running_, job.key);
  if (!entry.entered())
    return base::fail(ErrorCode::conflict, "the job is running already", job.key);
  NS_ASSIGN(adopted, adopt_report(job));
  if (adopted) return std::move(*adopted);
  if (stop.stop_requested()) return cancelled_report(job);
  if (job.launches.empty()) {
    JobReport report;
    report.key = job.key;
    NS_TRY(prepare_folder(job));
    NS_TRY(write_report(job, report));
    return report;
  }
  return run_attempts(job, stop);
}

base::Result<JobReport> SlurmRunner::run_attempts(const Job& job, std::stop_token stop) {
  const std::string name = fmt::format("nightshift:{}:", job.key);
  auto ticket = read_ticket(job.artifacts);
  if (ticket && !ticket->name.starts_with(name)) ticket.reset();  // whose folder is it? see below
  if (ticket) {
    base::log_info(fmt::format("{}: Slurm job {} of an earlier daemon is followed", job.key,
                               ticket->id.empty() ? ticket->name : ticket->id));
  } else {
    NS_TRY(prepare_folder(job));
  }
  std::string why;
  for (int tries = 0; tries < options_.attempts; ++tries) {
    if (!ticket) {
      NS_ASSIGN(taken, submit(job, stop));
      if (!taken) return cancelled_report(job);
      ticket = taken;
    }
    auto end = follow(job, *ticket, stop);
    if (!end) {
      cancel_now(*options_.queue, ticket->name);
      NS_TRY(remove_ticket(job.artifacts));
      return tl::unexpected<base::Error>(end.error());
    }
    if (std::holds_alternative<Stopped>(*end)) return stop_job(job, *ticket);
    if (std::holds_alternative<Finished>(*end)) {
      NS_ASSIGN(report, collect(job, *ticket));
      if (report) return std::move(*report);
      *end = Lost{"what it left on disk cannot be read"};
    }
    // Fenced off first: from here on nothing that it still does counts.
    NS_TRY(remove_ticket(job.artifacts));
    options_.queue->cancel(ticket->name);
    why = std::get<Lost>(*end).why +
          log_tail(log_file(attempt_folder(job.artifacts, ticket->attempt)));
    base::log_warning(fmt::format("{}: lost: {}", job.key, why));
    ticket.reset();
  }
  return base::fail(
      ErrorCode::unavailable,
      fmt::format("lost {} times on Slurm, the last time: {}", options_.attempts, why), job.key);
}

base::Result<std::optional<SlurmTicket>> SlurmRunner::submit(const Job& job, std::stop_token stop) {
  const double start_s = clock_.monotonic_s();
  for (double pause_s = 1;; pause_s = std::min(pause_s * 2, kLongestPause_s)) {
    SlurmTicket ticket{new_attempt(), "", ""};
    ticket.name = fmt::format("nightshift:{}:{}", job.key, ticket.attempt);
    SlurmSpec spec{job, options_.sandbox, ticket.attempt, job.artifacts};
    spec.job.artifacts = attempt_folder(job.artifacts, ticket.attempt);
    NS_TRY(base::ensure_folder(spec.job.artifacts));
    NS_TRY(write_spec(spec));
    NS_TRY(write_script(spec.job.artifacts));
    NS_TRY(write_ticket(job.artifacts, ticket));
    // Of what lost attempts left nothing is needed; what cannot be removed now is in nobody's way.
    (void)remove_attempts(job.artifacts, ticket.attempt);
    auto end = run_command(sbatch_arguments(job, ticket, options_.worker), kSbatchLimit_s, stop);
    if (end && end->exit_code == 0) {
      ticket.id = end->out.substr(0, end->out.find_first_of(";\n"));
      NS_TRY(write_ticket(job.artifacts, ticket));
      return std::optional(ticket);
    }
    const std::string why = end ? complaint_of(*end) : end.error().message;
    const bool passing = end ? is_passing(why) : end.error().code != ErrorCode::not_found;
    // sbatch may have been cut off behind Slurm's yes.
    auto look = passing && !stop.stop_requested() ? options_.queue->look(ticket.name, stop)
                                                  : base::Result<std::optional<SlurmState>>();
    if (look && *look && !stop.stop_requested()) {
      ticket.id = (*look)->id;
      NS_TRY(write_ticket(job.artifacts, ticket));
      return std::optional(ticket);
    }
    NS_TRY(remove_ticket(job.artifacts));
    if (!passing) {
      if (!end) return tl::unexpected<base::Error>(end.error());
      return base::fail(ErrorCode::bad_input,
                        "Slurm refused the job: " + why +
                            "; see resources.slurm of the probe, and `sinfo` for what there is",
                        job.key);
    }
    options_.queue->cancel(ticket.name);
    if (clock_.monotonic_s() - start_s > options_.patience_s) {
      return base::fail(ErrorCode::unavailable,
                        fmt::format("Slurm took no job for {:.0f} s: {}", options_.patience_s, why),
                        job.key);
    }
    if (!stop.stop_requested()) {
      base::log_warning(
          fmt::format("{}: Slurm takes no job now, next try in {} s: {}", job.key, pause_s, why));
    }
    if (!wait_unless_stopped(pause_s, stop)) return std::optional<SlurmTicket>();
  }
}

base::Result<SlurmRunner::End> SlurmRunner::follow(const Job& job, const SlurmTicket& ticket,
                                                   std::stop_token stop) {
  const double wait_s = job.slurm ? job.slurm->wait_s : 0;
  SlurmWatch watch(job.key, {wall_limit_s(job), options_.patience_s, wait_s, options_.grace_s});
  const fs::path attempt = attempt_folder(job.artifacts, ticket.attempt);
  for (std::string told;;) {
    auto look = options_.queue->look(ticket.name, stop);
    if (stop.stop_requested()) return End(Stopped{});
    std::error_code ignored;
    const bool finished = fs::exists(finished_file(attempt), ignored);
    NS_ASSIGN(step, watch.see(look, finished, clock_.monotonic_s()));
    if (std::holds_alternative<SlurmWatch::Take>(step)) return End(Finished{});
    if (auto* lost = std::get_if<SlurmWatch::Lost>(&step)) return End(Lost{lost->why});
    const std::string now = look ? watch.waits_for() : look.error().message;
    if (now != told && !now.empty()) {
      base::log_info(fmt::format("{}: Slurm job {} waits: {}", job.key, ticket.id, now));
    }
    told = now;
  }
}

base::Result<JobReport> SlurmRunner::stop_job(const Job& job, const SlurmTicket& ticket) {
  const fs::path attempt = attempt_folder(job.artifacts, ticket.attempt);
  // To the worker alone: it ends the launches and says what they had done. One that waits in the
  // queue does not get it.
  auto sent = run_command(
      {"scancel", "--batch", "--signal=TERM", "--name=" + ticket.name, "--state=RUNNING"},
      kCancelLimit_s, {});
  const double until_s = clock_.monotonic_s() + kStopLimit_s;
  std::error_code ignored;
  const bool runs = fs::exists(attempt / "job", ignored);  // the worker's first file
  while (sent && runs && clock_.monotonic_s() < until_s &&
         !fs::exists(stopped_file(attempt), ignored)) {
    if (fs::exists(finished_file(attempt), ignored)) break;
    wait_unless_stopped(kLook_s, {});
  }
  cancel_now(*options_.queue, ticket.name);
  return collect_stopped(job, ticket);
}

base::Result<std::string> slurm_summary() {
  constexpr double kLimit_s = 10;
  NS_ASSIGN(version, run_command({"sinfo", "--version"}, kLimit_s, {}));
  NS_ASSIGN(list, run_command({"sinfo", "--noheader", "--format=%P %a %D"}, kLimit_s, {}));
  if (list.exit_code != 0) {
    return base::fail(ErrorCode::unavailable, "Slurm does not answer: " + complaint_of(list),
                      "sinfo");
  }
  std::string name = version.out.substr(0, version.out.find('\n'));
  if (name.starts_with("slurm")) name[0] = 'S';
  std::string text;
  std::istringstream lines(list.out);
  for (std::string partition, available, nodes; lines >> partition >> available >> nodes;) {
    text += fmt::format("{}{} ({} {} {})", text.empty() ? "" : ", ", partition, nodes,
                        nodes == "1" ? "node" : "nodes", available);
  }
  return name + ": " + (text.empty() ? "no partition" : text);
}

}  // namespace runners

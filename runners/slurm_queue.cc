#include "runners/slurm_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/log.h"
#include "runners/slurm_command.h"

namespace runners {
using base::ErrorCode;
namespace {

constexpr double kSqueueLimit_s = 10;
constexpr double kScancelLimit_s = 10;

// The name last but one, since only we know ours; the reason, Slurm's free text, last.
constexpr const char* kFormat = "JobID:|,State:|,RestartCnt:|,NodeList:|,Name:|,Reason:|";

base::Result<std::map<std::string, SlurmState>> list_jobs(std::stop_token stop) {
  NS_ASSIGN(end, run_command({"squeue", "--me", "--states=all", "--noheader",
                              fmt::format("--Format={}", kFormat)},
                             kSqueueLimit_s, stop));
  if (end.exit_code != 0) {
    return base::fail(ErrorCode::unavailable, "Slurm's queue cannot be read: " + complaint_of(end),
                      "squeue");
  }
  return read_listing(end.out);
}

}  // namespace

bool is_live(const SlurmState& job) {
  static const std::set<std::string> kLive = {
      "PENDING",     "RUNNING",       "SUSPENDED", "COMPLETING",   "CONFIGURING",
      "REQUEUED",    "RESIZING",      "SIGNALING", "REQUEUE_HOLD", "STAGE_OUT",
      "REQUEUE_FED", "RESV_DEL_HOLD", "STOPPED",   "SPECIAL_EXIT"};
  return kLive.contains(job.state);
}

std::map<std::string, SlurmState> read_listing(const std::string& text) {
  std::map<std::string, SlurmState> jobs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, '|');) fields.push_back(part);
    if (fields.size() < 6) continue;  // somebody's name with a line break in it
    jobs[fields[4]] = {fields[0], fields[1], fields[3], fields[5], std::atoi(fields[2].c_str())};
  }
  return jobs;
}

SlurmQueue::SlurmQueue(double interval_s) : interval_s_(interval_s) {
  thread_ = std::jthread([this](std::stop_token stop) { serve(stop); });
}

SlurmQueue::~SlurmQueue() = default;

base::Result<std::optional<SlurmState>> SlurmQueue::look(const std::string& name,
                                                         std::stop_token stop) {
  std::unique_lock lock(mutex_);
  const std::int64_t wanted = begun_ + 1;
  ++waiting_;
  changed_.notify_all();
  changed_.wait(lock, stop, [&] { return done_ >= wanted; });
  --waiting_;
  if (done_ < wanted) return base::fail(ErrorCode::unavailable, "stopped", name);
  if (!listing_) return tl::unexpected(listing_.error());
  auto found = listing_->find(name);
  if (found == listing_->end()) return std::optional<SlurmState>();
  return std::optional(found->second);
}

void SlurmQueue::cancel(const std::string& name) {
  std::lock_guard lock(mutex_);
  doomed_.insert(name);
  changed_.notify_all();
}

void SlurmQueue::serve(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::set<std::string> doomed;  // before the listing: it may lack a job that is newer
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return waiting_ > 0 || !doomed_.empty(); })) return;
      ++begun_;
      doomed = doomed_;
    }
    Listing listing = list_jobs(stop);
    if (listing) cancel_doomed(doomed, *listing, stop);
    {
      std::lock_guard lock(mutex_);
      done_ = begun_;
      listing_ = std::move(listing);
    }
    changed_.notify_all();
    if (!wait_unless_stopped(interval_s_, stop)) return;
  }
}

void SlurmQueue::cancel_doomed(const std::set<std::string>& doomed, const Jobs& jobs,
                               std::stop_token stop) {
  std::string names;
  for (const std::string& name : doomed) {
    auto found = jobs.find(name);
    if (found != jobs.end() && is_live(found->second)) {
      names += (names.empty() ? "" : ",") + name;
    } else {
      std::lock_guard lock(mutex_);
      doomed_.erase(name);
    }
  }
  if (names.empty()) return;
  auto end = run_command({"scancel", "--name=" + names}, kScancelLimit_s, stop);
  if (!end) base::log_warning("jobs could not be cancelled yet: " + end.error().text());
}

}  // namespace runners

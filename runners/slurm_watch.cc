#include "runners/slurm_watch.h"

#include <fmt/format.h>

#include "runners/slurm_submit.h"

namespace runners {
using base::ErrorCode;
namespace {

// Whether `since` is longer ago than `limit_s`; begins to count when it does not yet.
bool passed(std::optional<double>& since, double limit_s, double now_s) {
  if (!since) since = now_s;
  return now_s - *since > limit_s;
}

std::string named(const SlurmState& job) {
  return fmt::format("Slurm job {}{}", job.id, job.node.empty() ? "" : " on node " + job.node);
}

}  // namespace

base::Result<SlurmWatch::Step> SlurmWatch::see(const base::Result<std::optional<SlurmState>>& look,
                                               bool finished, double now_s) {
  if (!look) {
    if (!passed(silent_since_, patience_.stuck_s, now_s)) return Step(Wait{});
    return base::fail(ErrorCode::unavailable,
                      fmt::format("Slurm did not answer for {:.0f} s: {}", patience_.stuck_s,
                                  look.error().message),
                      key_);
  }
  silent_since_.reset();
  if (!*look) return see_missing(finished, now_s, "Slurm does not know the job any more");
  const SlurmState& job = **look;
  if (job.restarts > 0) {
    return Step(Lost{named(job) + " was started again by Slurm, so what it wrote is not taken"});
  }
  return is_live(job) ? see_live(job, now_s) : see_ended(job, finished, now_s);
}

SlurmWatch::Step SlurmWatch::see_missing(bool finished, double now_s, const std::string& why) {
  running_since_.reset();
  if (finished) return Take{};
  if (!passed(ended_since_, patience_.grace_s, now_s)) return Wait{};
  return Lost{why};
}

base::Result<SlurmWatch::Step> SlurmWatch::see_live(const SlurmState& job, double now_s) {
  ended_since_.reset();
  if (job.state == "PENDING" || job.state == "CONFIGURING") {
    running_since_.reset();
    waits_for_ = job.reason == "None" ? "" : job.reason;
    const bool too_long = patience_.wait_s > 0 && passed(waiting_since_, patience_.wait_s, now_s);
    if (!is_stuck(job.reason)) {
      stuck_since_.reset();
      if (!too_long) return Step(Wait{});
      return base::fail(ErrorCode::unavailable,
                        fmt::format("{} was not started within {:.0f} s (reason: {}) and was given "
                                    "up, as resources.slurm.wait says",
                                    named(job), patience_.wait_s, job.reason),
                        key_);
    }
    if (!passed(stuck_since_, patience_.stuck_s, now_s)) return Step(Wait{});
    return base::fail(
        ErrorCode::unavailable,
        fmt::format("{} waited for {:.0f} s with the reason {} and was given up: it is held "
                    "(scontrol release {}), or its resources.slurm ask for what the cluster does "
                    "not have",
                    named(job), patience_.stuck_s, job.reason, job.id),
        key_);
  }
  waits_for_.clear();
  if (job.state == "REQUEUED" || job.state == "REQUEUE_HOLD" || job.state == "SPECIAL_EXIT") {
    return Step(Lost{named(job) + " was put back into the queue by Slurm"});
  }
  if (passed(running_since_, patience_.wall_s, now_s)) {
    return Step(
        Lost{fmt::format("{} did not end within {:.0f} s, although its launches have time "
                         "limits: its node hangs",
                         named(job), patience_.wall_s)});
  }
  return Step(Wait{});
}

base::Result<SlurmWatch::Step> SlurmWatch::see_ended(const SlurmState& job, bool finished,
                                                     double now_s) {
  running_since_.reset();
  if (job.state == "OUT_OF_MEMORY") {
    return base::fail(ErrorCode::refused,
                      named(job) +
                          " was ended by Slurm for want of memory; let the probe's "
                          "resources.slurm ask for larger nodes, or for whole ones",
                      key_);
  }
  if (finished || job.state == "COMPLETED") {
    return see_missing(finished, now_s,
                       named(job) +
                           " ended well, but its outcome does not show up here: is the "
                           "state folder on a file system that the nodes share?");
  }
  if (job.state == "CANCELLED") {
    return base::fail(ErrorCode::refused, named(job) + " was cancelled by somebody else", key_);
  }
  if (job.state == "TIMEOUT" || job.state == "DEADLINE") {
    return base::fail(ErrorCode::refused,
                      named(job) +
                          " was ended by Slurm at its time limit; raise the probe's "
                          "resources.slurm.time",
                      key_);
  }
  return Step(Lost{fmt::format("{} ended as {}", named(job), job.state)});
}

}  // namespace runners

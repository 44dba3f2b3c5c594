// What is made of Slurm's words, without a cluster.
#include <catch2/catch.hpp>

#include "runners/slurm_command.h"
#include "runners/slurm_submit.h"
#include "runners/slurm_watch.h"

namespace runners {
namespace {

using Look = base::Result<std::optional<SlurmState>>;

Look seen(const std::string& state, const std::string& reason = "None", int restarts = 0) {
  return std::optional(SlurmState{"12", state, "n1", reason, restarts});
}
Look silent() { return base::fail(base::ErrorCode::timeout, "squeue did not answer"); }
Look unknown() { return std::optional<SlurmState>(); }

// "wait", "take", "lost: why" or "error: what".
std::string word(const base::Result<SlurmWatch::Step>& step) {
  if (!step) return "error: " + step.error().message;
  if (std::holds_alternative<SlurmWatch::Wait>(*step)) return "wait";
  if (std::holds_alternative<SlurmWatch::Take>(*step)) return "take";
  return "lost: " + std::get<SlurmWatch::Lost>(*step).why;
}

SlurmWatch watch(double wait_s = 0) { return SlurmWatch("E-1/0", {100, 50, wait_s, 5}); }

// What a fresh watch makes of one state.
std::string once(const Look& look, bool finished) {
  SlurmWatch fresh = watch();
  return word(fresh.see(look, finished, 0));
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

Job job_of(hypotheses::SlurmResources slurm) {
  Job job;
  job.key = "E-1/0";
  job.artifacts = "/state/artifacts/E-1/0";
  job.cores = 3;
  job.launches.resize(2);
  job.launches[0].limits.timeout_s = job.launches[1].limits.timeout_s = 61;
  job.slurm = std::move(slurm);
  return job;
}

std::vector<std::string> arguments(const Job& job) {
  return sbatch_arguments(job, {"a7", "nightshift:E-1/0:a7", ""}, "/bin/nightshift");
}

bool has(const std::vector<std::string>& list, const std::string& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

}  // namespace

TEST_CASE("Slurm: a live job is waited for, and nothing is taken before it ended") {
  for (const char* state : {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED"}) {
    INFO(state);
    CHECK(once(seen(state), false) == "wait");
    CHECK(once(seen(state), true) == "wait");
  }
}

TEST_CASE("Slurm: a whole outcome is taken however Slurm calls the end, without one it is lost") {
  CHECK(once(unknown(), true) == "take");
  for (const char* state : {"COMPLETED", "NODE_FAIL", "CANCELLED", "TIMEOUT", "PREEMPTED"}) {
    INFO(state);
    CHECK(once(seen(state), true) == "take");
  }
  for (const char* state :
       {"NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "FAILED", "REVOKED", "NEWWORD"}) {
    INFO(state);
    CHECK(says(once(seen(state), false),
               std::string("lost: Slurm job 12 on node n1 ended as ") + state));
  }
  CHECK(says(once(seen("COMPLETED", "None", 1), true), "lost: "));
  CHECK(says(once(seen("PENDING", "BeginTime", 1), false), "lost: "));
  CHECK(says(once(seen("REQUEUED"), true), "lost: "));
}

TEST_CASE("Slurm: what a person or the request itself ended is final and says what to do") {
  CHECK(says(once(seen("CANCELLED"), false), "error: Slurm job 12 on node n1 was cancelled by "));
  CHECK(says(once(seen("TIMEOUT"), false), "resources.slurm.time"));
  CHECK(says(once(seen("OUT_OF_MEMORY"), true), "memory"));
}

TEST_CASE("Slurm: files that show up late are waited for, for a while") {
  SlurmWatch late = watch();
  CHECK(word(late.see(seen("COMPLETED"), false, 0)) == "wait");
  CHECK(word(late.see(seen("COMPLETED"), true, 4)) == "take");
  SlurmWatch never = watch();
  CHECK(word(never.see(seen("COMPLETED"), false, 0)) == "wait");
  CHECK(says(word(never.see(seen("COMPLETED"), false, 6)), "share"));
  SlurmWatch gone = watch();
  CHECK(word(gone.see(unknown(), false, 10)) == "wait");
  CHECK(says(word(gone.see(unknown(), false, 16)), "lost: Slurm does not know the job"));
}

TEST_CASE("Slurm: silence is waited out, and begins anew when it answered") {
  SlurmWatch watched = watch();
  CHECK(word(watched.see(silent(), true, 0)) == "wait");
  CHECK(word(watched.see(silent(), true, 50)) == "wait");
  CHECK(word(watched.see(seen("RUNNING"), false, 51)) == "wait");
  CHECK(word(watched.see(silent(), true, 52)) == "wait");
  CHECK(word(watched.see(silent(), true, 102)) == "wait");
  CHECK(says(word(watched.see(silent(), true, 103)), "error: Slurm did not answer for 50 s"));
}

TEST_CASE("Slurm: a job that nobody will ever start is given up, one that waits its turn is not") {
  SlurmWatch held = watch();
  CHECK(word(held.see(seen("PENDING", "JobHeldUser"), false, 0)) == "wait");
  CHECK(word(held.see(seen("PENDING", "Priority"), false, 49)) == "wait");
  CHECK(word(held.see(seen("PENDING", "JobHeldUser"), false, 50)) == "wait");
  CHECK(word(held.see(seen("PENDING", "JobHeldUser"), false, 100)) == "wait");
  CHECK(says(word(held.see(seen("PENDING", "JobHeldUser"), false, 101)), "scontrol release 12"));
  SlurmWatch queued = watch();
  for (double now_s : {0.0, 1e3, 1e6}) {
    CHECK(word(queued.see(seen("PENDING", "Resources"), false, now_s)) == "wait");
  }
  CHECK(queued.waits_for() == "Resources");
  SlurmWatch hurried = watch(30);
  CHECK(word(hurried.see(seen("PENDING", "Priority"), false, 0)) == "wait");
  CHECK(word(hurried.see(seen("PENDING", "Resources"), false, 30)) == "wait");
  CHECK(says(word(hurried.see(seen("PENDING", "Resources"), false, 31)), "resources.slurm.wait"));
}

TEST_CASE(
    "Slurm: a job that outlasts its own limits is lost, and time in the queue does not count") {
  SlurmWatch watched = watch();
  CHECK(word(watched.see(seen("PENDING", "Priority"), false, 0)) == "wait");
  CHECK(word(watched.see(seen("RUNNING"), false, 1000)) == "wait");
  CHECK(word(watched.see(seen("RUNNING"), false, 1100)) == "wait");
  CHECK(says(word(watched.see(seen("RUNNING"), false, 1101)), "lost: "));
}

TEST_CASE("Slurm: a listing is read by name, whatever else is in it") {
  auto jobs = read_listing(
      "3|PENDING|0||nightshift:E-1/0:a|Priority|\n"
      "somebody's broken line\n"
      "4|RUNNING|2|n7|other|None|\n");
  REQUIRE(jobs.size() == 2);
  CHECK(jobs.at("nightshift:E-1/0:a").id == "3");
  CHECK(jobs.at("nightshift:E-1/0:a").reason == "Priority");
  CHECK(jobs.at("nightshift:E-1/0:a").node.empty());
  CHECK(jobs.at("other").restarts == 2);
  CHECK(jobs.at("other").node == "n7");
}

TEST_CASE("Slurm: a request becomes options of sbatch, an empty one leaves them to the cluster") {
  auto plain = arguments(job_of({}));
  CHECK(has(plain, "--no-requeue"));
  CHECK(has(plain, "--nodes=1"));
  CHECK(has(plain, "--cpus-per-task=3"));
  CHECK(has(plain, "--exclusive"));
  CHECK(has(plain, "--time=4"));  // 2 x 61 s and a minute are 182 s; Slurm counts in minutes
  CHECK(plain.back() == "/state/artifacts/E-1/0/slurm-a7/spec.json");
  for (const std::string& argument : plain) CHECK(argument.find("--partition") != 0);

  hypotheses::SlurmResources wanted;
  wanted.partition = "fast";
  wanted.constraint = "icelake&nvme";
  wanted.account = "perf";
  wanted.qos = "night";
  wanted.time_s = 600;
  wanted.exclusive = false;
  Job job = job_of(wanted);
  job.gpus = 2;
  auto full = arguments(job);
  for (const char* option : {"--partition=fast", "--constraint=icelake&nvme", "--account=perf",
                             "--qos=night", "--time=10", "--gres=gpu:2"}) {
    INFO(option);
    CHECK(has(full, option));
  }
  CHECK_FALSE(has(full, "--exclusive"));
  job.slurm->gres = "gpu:h100:1";
  CHECK(has(arguments(job), "--gres=gpu:h100:1"));
}

TEST_CASE("Slurm: refusals that pass are told from mistakes") {
  for (const char* passing :
       {"Batch job submission failed: Unable to contact slurm controller (connect failure)",
        "Slurm temporarily unable to accept job, sleeping and retrying",
        "Batch job submission failed: Socket timed out on send/recv operation",
        "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"}) {
    INFO(passing);
    CHECK(is_passing(passing));
  }
  for (const char* mistake :
       {"invalid partition specified: nope; Batch job submission failed: Invalid partition name",
        "Batch job submission failed: Invalid feature specification",
        "Invalid generic resource (gres) specification"}) {
    INFO(mistake);
    CHECK_FALSE(is_passing(mistake));
  }
}

TEST_CASE("a command that hangs is cut off, one that fails says why on one line") {
  auto slow = run_command({"sh", "-c", "sleep 1000 & sleep 1000"}, 0.2, {});
  REQUIRE_FALSE(slow);
  CHECK(slow.error().code == base::ErrorCode::timeout);
  auto failed =
      run_command({"sh", "-c", "echo 'sbatch: error: a' >&2; echo b >&2; exit 3"}, 10, {});
  REQUIRE(failed);
  CHECK(failed->exit_code == 3);
  CHECK(complaint_of(*failed) == "a; b");
  auto missing = run_command({"no-such-slurm"}, 10, {});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == base::ErrorCode::not_found);
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(run_command({"sh", "-c", "sleep 1000"}, 10, stop.get_token()));
}

}  // namespace runners

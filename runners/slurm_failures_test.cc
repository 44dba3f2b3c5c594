// What breaks on a cluster, on a real one: nodes, the controller, the queue, the daemon itself.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>

#include "runners/job_folder.h"
#include "runners/slurm_files.h"
#include "runners/test_cluster.h"
#include "runners/test_jobs.h"

namespace runners {
namespace {

using testing::TestCluster;
using testing::text_of;
using testing::Workshop;

// A job whose one launch counts itself in log/launched, waits until log/go exists (from the second
// launch on: does not wait if `once`), and prints its number.
struct Scene {
  explicit Scene(const std::string& cluster_arguments = "") : cluster(cluster_arguments) {}

  TestCluster cluster;
  Workshop workshop;
  base::SystemClock clock;

  Job job(hypotheses::SlurmResources wanted = {}) const {
    const std::string log = (workshop.folder / "log").string();
    Launch launch = workshop.script("a", "echo x >> " + log + "/launched; n=$(wc -l < " + log +
                                             "/launched); while [ ! -e " + log +
                                             "/go ]; do sleep 0.1; done; printf %s $n");
    launch.limits.timeout_s = 100;
    Job job = workshop.job("E-1/0", {launch});
    job.slurm = std::move(wanted);
    return job;
  }
  void let_go() const { REQUIRE(base::write_file_atomically(workshop.folder / "log/go", "")); }

  // Returns once this many launches have begun.
  bool launched(std::size_t count) const {
    for (int i = 0; i < 3000; ++i) {
      if (count_launched() >= count) return true;
      base::wait_s(0.01);
    }
    return false;
  }
  std::size_t count_launched() const { return workshop.log("launched").size() / 2; }

  std::future<base::Result<JobReport>> run(const Job& job, const SlurmRunnerOptions& options,
                                           std::stop_token stop = {}) const {
    return std::async(std::launch::async, [this, job, options, stop] {
      SlurmRunner runner(options, clock);
      return runner.run(job, stop);
    });
  }

  // The node of our one running job.
  std::string node() const {
    return cluster.shell("squeue -h -t R -o %N | head -n 1 | tr -d '\\n'");
  }
  std::string id(const std::string& state) const {
    return cluster.shell("squeue -h -t " + state + " -o %i | head -n 1 | tr -d '\\n'");
  }
};

std::string text(const base::Result<JobReport>& report) {
  return report ? "a report" : report.error().text();
}

// One launch, by the attempt of this number.
void check_launch(const base::Result<JobReport>& report, const std::string& number) {
  INFO(text(report));
  REQUIRE(report);
  REQUIRE(report->launches.size() == 1);
  CHECK(report->launches[0].ending == Ending::exited);
  CHECK(report->launches[0].exit_code == 0);
  CHECK(text_of(report->launches[0].out) == number);
}

}  // namespace

TEST_CASE("Slurm: a job of a dead node runs again elsewhere, and its orphan has no say") {
  Scene scene;
  auto ended = scene.run(scene.job(), scene.cluster.options());
  REQUIRE(scene.launched(1));
  const std::string dead = scene.node();
  scene.cluster.kill_part(dead);
  scene.cluster.shell("scontrol update nodename=" + dead + " state=down reason=test");
  REQUIRE(scene.launched(2));  // the first goes on where nobody hears it
  scene.let_go();
  auto report = ended.get();
  check_launch(report, "2");
  CHECK(report->launches[0].machine.machine.find(dead + " on ") != 0);
  CHECK(report->launches[0].machine.machine.find(" on ") == 2);
  CHECK_FALSE(read_ticket(scene.job().artifacts));
}

TEST_CASE("Slurm: a preempted job is submitted again") {
  Scene scene("--nodes 1");
  hypotheses::SlurmResources low;
  low.partition = "low";
  auto ended = scene.run(scene.job(low), scene.cluster.options());
  REQUIRE(scene.launched(1));
  scene.cluster.shell("sbatch -p high --exclusive -J urgent -o /dev/null --wrap 'sleep 1000'");
  REQUIRE(scene.cluster.shows("squeue -h -n urgent -o %T", "RUNNING"));
  REQUIRE(scene.cluster.shows("squeue -h -t PD -o %T", "PENDING"));
  scene.cluster.shell("scancel -n urgent");
  REQUIRE(scene.launched(2));
  scene.let_go();
  check_launch(ended.get(), "2");
}

TEST_CASE("Slurm: what a job that Slurm started again wrote is not taken") {
  Scene scene;
  auto ended = scene.run(scene.job(), scene.cluster.options());
  REQUIRE(scene.launched(1));
  const std::string id = scene.id("R");
  scene.cluster.shell("scontrol update jobid=" + id + " requeue=1");
  scene.cluster.shell("scontrol requeue " + id);
  REQUIRE(scene.launched(2));
  scene.let_go();
  check_launch(ended.get(), "2");
  CHECK(scene.cluster.shows("squeue -h -t all -j " + id + " -o %T", "CANCELLED"));
}

TEST_CASE("Slurm: a job outlives its controller") {
  Scene scene;
  auto ended = scene.run(scene.job(), scene.cluster.options());
  REQUIRE(scene.launched(1));
  scene.cluster.stop_part("controller");
  scene.let_go();
  base::wait_s(1);
  scene.cluster.start_part("controller");
  check_launch(ended.get(), "1");
  CHECK(scene.count_launched() == 1);
}

// A controller that crashes forgets what it did in its last seconds; it may take a running job for
// one that waits, and start it a second time or not at all.
TEST_CASE("Slurm: whatever a crashed controller forgot, one whole attempt counts") {
  Scene scene;
  auto ended = scene.run(scene.job(), scene.cluster.options());
  REQUIRE(scene.launched(1));
  scene.cluster.kill_part("controller");
  scene.cluster.start_part("controller");
  scene.let_go();
  auto report = ended.get();
  INFO(text(report));
  REQUIRE(report);
  check_launch(report, text_of(report->launches.at(0).out));
  CHECK(std::stoul(text_of(report->launches[0].out)) <= scene.count_launched());
}

TEST_CASE("Slurm: without a controller a job waits, and patience has an end") {
  Scene scene;
  scene.cluster.kill_part("controller");
  scene.let_go();
  auto options = scene.cluster.options();
  options.patience_s = 1;
  auto refused = scene.run(scene.job(), options).get();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::unavailable);
  CHECK(refused.error().message.find("Slurm took no job for 1 s: ") == 0);
  CHECK_FALSE(read_ticket(scene.job().artifacts));
  auto ended = scene.run(scene.job(), scene.cluster.options());
  scene.cluster.start_part("controller");
  check_launch(ended.get(), "1");
}

TEST_CASE("Slurm: a full queue is tried again until there is room") {
  Scene scene("--nodes 2 MaxJobCount=2 MinJobAge=2");
  scene.cluster.shell("sbatch -J blocker -o /dev/null --wrap 'sleep 1000'");
  scene.let_go();
  auto ended = scene.run(scene.job(), scene.cluster.options());
  base::wait_s(2);
  CHECK(scene.count_launched() == 0);
  scene.cluster.shell("scancel -n blocker");
  check_launch(ended.get(), "1");
}

TEST_CASE("Slurm: a job of which Slurm knows nothing is submitted again") {
  Scene scene;
  scene.let_go();
  Job job = scene.job();
  // A daemon that died between its ticket and sbatch.
  REQUIRE(prepare_folder(job));
  REQUIRE(write_ticket(job.artifacts, {"old", "nightshift:E-1/0:old", ""}));
  check_launch(scene.run(job, scene.cluster.options()).get(), "1");
}

TEST_CASE("Slurm: a held job is given up with what to do") {
  Scene scene;
  for (int i = 0; i < 2; ++i) {
    scene.cluster.shell("sbatch --exclusive -J blocker -o /dev/null --wrap 'sleep 1000'");
  }
  REQUIRE(scene.cluster.shows("squeue -h -n blocker -t R -o %T | wc -l", "2"));
  auto options = scene.cluster.options();
  options.patience_s = 2;
  auto ended = scene.run(scene.job(), options);
  REQUIRE(scene.cluster.shows("squeue -h -t PD -o %j", "nightshift:E-1/0:"));
  const std::string id = scene.id("PD");
  scene.cluster.shell("scontrol hold " + id);
  auto refused = ended.get();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::unavailable);
  CHECK(refused.error().message.find("scontrol release " + id) != std::string::npos);
  CHECK(scene.cluster.shows("squeue -h -t all -j " + id + " -o %T", "CANCELLED"));
}

TEST_CASE("Slurm: a request that the cluster does not know is an error with its name") {
  Scene scene;
  hypotheses::SlurmResources wanted;
  wanted.partition = "nope";
  auto refused = scene.run(scene.job(wanted), scene.cluster.options()).get();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::bad_input);
  CHECK(refused.error().message.find("invalid partition specified: nope") != std::string::npos);
  CHECK(refused.error().message.find("resources.slurm") != std::string::npos);
  wanted.partition = "";
  wanted.constraint = "n2";
  scene.let_go();
  auto report = scene.run(scene.job(wanted), scene.cluster.options()).get();
  check_launch(report, "1");
  CHECK(report->launches[0].machine.machine.find("n2 on ") == 0);
}

TEST_CASE("Slurm: a job that somebody cancels is no result") {
  Scene scene;
  auto ended = scene.run(scene.job(), scene.cluster.options());
  REQUIRE(scene.launched(1));
  scene.cluster.shell("scancel " + scene.id("R"));
  auto refused = ended.get();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::refused);
  CHECK(refused.error().message.find("cancelled by somebody else") != std::string::npos);
}

TEST_CASE("Slurm: a job that waits in the queue is stopped at once and leaves it") {
  Scene scene("--nodes 1");
  scene.cluster.shell("sbatch --exclusive -J blocker -o /dev/null --wrap 'sleep 1000'");
  REQUIRE(scene.cluster.shows("squeue -h -n blocker -o %T", "RUNNING"));
  std::stop_source stop;
  auto ended = scene.run(scene.job(), scene.cluster.options(), stop.get_token());
  REQUIRE(scene.cluster.shows("squeue -h -t PD -o %j", "nightshift:E-1/0:"));
  stop.request_stop();
  auto report = ended.get();
  REQUIRE(report);
  CHECK(report->launches[0].ending == Ending::cancelled);
  CHECK(scene.cluster.shell("squeue -h -t PD,R -o %j") == "blocker\n");
}

TEST_CASE("Slurm: the job of a daemon that was killed is taken up by the next one") {
  Scene scene;
  Job job = scene.job();
  const pid_t child = ::fork();
  if (child == 0) {
    SlurmRunner runner(scene.cluster.options(), scene.clock);
    (void)runner.run(job, {});
    ::_exit(0);
  }
  REQUIRE(child > 0);
  const bool began = scene.launched(1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  REQUIRE(began);
  REQUIRE(read_ticket(job.artifacts));
  // The node is this machine: what runs for Slurm is no leftover.
  CHECK(reclaim_leftovers(scene.workshop.folder / "artifacts") == 0);
  auto ended = scene.run(job, scene.cluster.options());
  scene.let_go();
  check_launch(ended.get(), "1");
  CHECK(scene.count_launched() == 1);
}

TEST_CASE("Slurm: one node has both launches of a job, and an error of the node is told") {
  Scene scene;
  scene.let_go();
  Job pair = scene.job();
  pair.launches.push_back(pair.launches[0]);
  pair.launches[1].name = "b";
  auto report = scene.run(pair, scene.cluster.options()).get();
  INFO(text(report));
  REQUIRE(report);
  CHECK(report->launches[0].machine.machine == report->launches[1].machine.machine);
  CHECK(text_of(report->launches[1].out) == "2");

  auto options = scene.cluster.options();
  options.worker = "/no/such/program";
  options.attempts = 2;
  Job other = pair;
  other.key = "E-2/0";
  other.artifacts = scene.workshop.folder.path() / "artifacts" / other.key;
  auto lost = scene.run(other, options).get();
  REQUIRE_FALSE(lost);
  CHECK(lost.error().code == base::ErrorCode::unavailable);
  CHECK(lost.error().message.find("lost 2 times on Slurm") == 0);
  CHECK(lost.error().message.find("/no/such/program") != std::string::npos);
}

}  // namespace runners

// LocalRunner against programs that misbehave, judged from outside the sandbox.
#include "runners/local_runner.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/process.h"
#include "base/process_list.h"
#include "runners/control_group.h"
#include "runners/local_launch.h"
#include "runners/test_jobs.h"

namespace runners {
namespace {

using testing::make_runner;
using testing::test_clock;
using testing::text_of;
using testing::Workshop;

std::string rule_name(SandboxRule rule) {
  return rule == SandboxRule::required ? "sandboxed" : "unsandboxed";
}

int left_of(const Job& job) {
  return static_cast<int>(
      base::marked_processes(kJobVariable, job.artifacts.string(), base::Marked::below).size());
}

double timed(const std::function<void()>& act) {
  double before = test_clock.monotonic_s();
  act();
  return test_clock.monotonic_s() - before;
}

TEST_CASE("a child that detached itself and ignores signals is dead a second after the timeout") {
  for (auto rule : {SandboxRule::required, SandboxRule::none}) {
    INFO(rule_name(rule));
    Workshop workshop;
    // Double fork, a session of its own, no environment, signals ignored, writing all the time.
    std::string beat = (workshop.folder / "log/beat").string();
    auto launch = workshop.script(
        "a", "(setsid env -i /bin/sh -c 'trap \"\" TERM INT HUP; while :; do echo x >> " + beat +
                 "; sleep 0.01; done' &); trap '' TERM; while :; do sleep 1000; done");
    launch.limits.timeout_s = 0.5;
    auto job = workshop.job("E-1", {launch});
    auto runner = make_runner(rule);
    double ran_s = 0;  // until the timeout was noticed
    double took_s = timed([&] {
      auto report = runner.run(job, {});
      REQUIRE(report);
      CHECK(report->launches[0].ending == Ending::timed_out);
      ran_s = report->launches[0].wall_s;
    });
    CHECK(ran_s < 0.5 + 1);
    CHECK(took_s - ran_s < 1);
    std::string last = workshop.log("beat");
    CHECK_FALSE(last.empty());
    base::wait_s(0.1);
    CHECK(workshop.log("beat") == last);
    CHECK(left_of(job) == 0);
  }
}

TEST_CASE("what a program leaves running after its end is ended too") {
  for (auto rule : {SandboxRule::required, SandboxRule::none}) {
    INFO(rule_name(rule));
    Workshop workshop;
    auto job =
        workshop.job("E-1", {workshop.script("a", "(setsid sleep 1000 &); sleep 1000 & exit 0")});
    double took_s = timed([&] {
      auto report = make_runner(rule).run(job, {});
      REQUIRE(report);
      CHECK(report->launches[0].exit_code == 0);
    });
    CHECK(took_s < 2);
    CHECK(left_of(job) == 0);
  }
}

TEST_CASE("a stop request ends a job within a second") {
  Workshop workshop;
  auto job =
      workshop.job("E-1", {workshop.script("a", "trap '' TERM; while :; do sleep 1000; done")});
  std::stop_source source;
  auto runner = make_runner(SandboxRule::required);
  std::jthread stopper([&] {
    base::wait_s(0.2);
    source.request_stop();
  });
  CHECK(timed([&] { (void)runner.run(job, source.get_token()); }) < 1.2);
  CHECK(left_of(job) == 0);
}

TEST_CASE("the environment is exactly what was given and what is promised") {
  for (auto rule : {SandboxRule::required, SandboxRule::none}) {
    INFO(rule_name(rule));
    Workshop workshop;
    ::setenv("NS_TEST_SECRET", "hunter2", 1);
    auto launch = workshop.script("a", "unused");
    launch.argv = {"/usr/bin/env"};
    launch.env = {{"A", "two words"}, {"EMPTY", ""}, {"LD_DEBUG_OUTPUT", "=x=\n"}};
    auto job = workshop.job("E-1", {launch});
    auto report = make_runner(rule).run(job, {});
    ::unsetenv("NS_TEST_SECRET");
    REQUIRE(report);
    std::string scratch = scratch_folder(job, launch);
    std::vector<std::string> expected = {"A=two words",
                                         "EMPTY=",
                                         "LD_DEBUG_OUTPUT==x=\n",
                                         "PATH=/usr/local/bin:/usr/bin:/bin",
                                         "LANG=C.UTF-8",
                                         "HOME=" + scratch,
                                         "TMPDIR=" + scratch,
                                         "PWD=" + launch.tree.string(),
                                         "NIGHTSHIFT_JOB=" + job.artifacts.string()};
    std::string text = text_of(report->launches[0].out);
    std::size_t length = 0;
    for (const auto& variable : expected) {
      INFO(variable);
      CHECK(("\n" + text).find("\n" + variable + "\n") != std::string::npos);
      length += variable.size() + 1;
    }
    CHECK(text.size() == length);
  }
}

TEST_CASE("a program that takes all memory is ended and told so") {
  for (auto rule : {SandboxRule::required, SandboxRule::none}) {
    INFO(rule_name(rule));
    Workshop workshop;
    auto hog = workshop.script("a", "exec tail -n 1 /dev/zero");
    hog.limits.memory_bytes = 64 << 20;
    auto report = make_runner(rule).run(workshop.job("E-1", {hog}), {});
    REQUIRE(report);
    const auto& launch = report->launches[0];
    INFO(launch.detail << text_of(launch.err));
    CHECK(launch.ending != Ending::timed_out);
    CHECK_FALSE((launch.ending == Ending::exited && launch.exit_code == 0));
    if (launch.ending == Ending::signalled) {
      CHECK(launch.detail.find("out of memory: its limit is 64 MiB") != std::string::npos);
    }
  }
}

TEST_CASE("files, also in memory, stay within their limits") {
  Workshop workshop;
  auto writer = workshop.script(
      "a",
      "head -c 9000000 /dev/zero > $TMPDIR/big; head -c 90000000 /dev/zero > /tmp/big; "
      "head -c 90000000 /dev/zero > /dev/shm/big; stat -c %s $TMPDIR/big");
  writer.limits.file_bytes = 1 << 20;
  auto report = make_runner(SandboxRule::required).run(workshop.job("E-1", {writer}), {});
  REQUIRE(report);
  CHECK(text_of(report->launches[0].out) == "1048576\n");
}

TEST_CASE("a fork bomb is bounded and ended") {
  if (!ControlGroup::make() && ::getuid() == 0) {
    WARN("skipped: as root without control groups nothing bounds the number of processes");
    return;
  }
  for (auto rule : {SandboxRule::required, SandboxRule::none}) {
    INFO(rule_name(rule));
    Workshop workshop;
    auto bomb = workshop.script("a", "f() { f | f & }; f; while :; do sleep 1; done");
    bomb.limits.processes = 100;
    bomb.limits.timeout_s = 1;
    auto job = workshop.job("E-1", {bomb});
    int most = 0;
    std::atomic<bool> done{false};
    std::jthread watcher([&] {
      while (!done) {
        most = std::max(most, left_of(job));
        base::wait_s(0.02);
      }
    });
    REQUIRE(make_runner(rule).run(job, {}));  // it comes back at all
    done = true;
    watcher.join();
    CHECK(most <= 101);
    CHECK(left_of(job) == 0);
  }
}

TEST_CASE("a measurement runs on its own cores and its CPU time is counted") {
  for (auto rule : {SandboxRule::required, SandboxRule::none}) {
    INFO(rule_name(rule));
    Workshop workshop;
    auto job = workshop.job(
        "E-1", {workshop.script("a", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; nproc")});
    auto report = make_runner(rule).run(job, {});
    REQUIRE(report);
    CHECK(text_of(report->launches[0].out) == "1\n");
    CHECK(report->launches[0].cpu_s > 0.02);
    CHECK(report->launches[0].cpu_s < report->launches[0].wall_s * 1.5 + 0.1);
    CHECK(report->launches[0].machine.load >= 0);
  }
}

TEST_CASE("a measurement that shares its core with somebody says so") {
  Workshop workshop;
  const int core = CorePool::usable_cores().front();
  LocalRunner runner(
      {SandboxRule::none, std::make_shared<CorePool>(std::vector<int>{core}), "bwrap"}, test_clock);
  auto spin = workshop.script("a", "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); done");
  base::Command neighbour;
  neighbour.argv = {"/bin/sh", "-c", "while :; do :; done"};
  neighbour.cores = {core};
  auto tree = base::ProcessTree::start(neighbour);
  REQUIRE(tree);
  auto report = runner.run(workshop.job("E-1", {spin}), {});
  tree->end_all();
  REQUIRE(report);
  const auto& launch = report->launches[0];
  INFO(launch.wall_s << " s, own CPU " << launch.cpu_s);
  CHECK(launch.machine.others_s.value_or(0) > 0.1 * launch.wall_s);
  CHECK(launch.machine.disturbed.find("other processes took") == 0);
  CHECK(launch.machine.system.find("Linux ") == 0);
  CHECK(launch.machine.free_bytes.value_or(0) > 0);
}

TEST_CASE("two jobs at a time are told of different GPUs, and one without of none") {
  Workshop workshop;
  LocalRunnerOptions options;
  options.sandbox = SandboxRule::automatic;
  options.cores = std::make_shared<CorePool>(std::vector<int>(CorePool::usable_cores()));
  options.gpus = std::make_shared<GpuPool>(std::vector<int>{3, 5});
  LocalRunner runner(options, test_clock);
  const std::string say = "echo \"$CUDA_VISIBLE_DEVICES\"";
  auto both = workshop.job("E-1", {workshop.script("a", say)});
  both.gpus = 2;
  auto report = runner.run(both, {});
  REQUIRE(report);
  CHECK(text_of(report->launches[0].out) == "3,5\n");

  std::string seen[2];
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i) {
      auto job = workshop.job("E-2/" + std::to_string(i),
                              {workshop.script("b" + std::to_string(i), say + "; sleep 0.3")});
      job.gpus = 1;
      threads.emplace_back([&, i, job] {
        auto done = runner.run(job, {});
        if (done) seen[i] = text_of(done->launches[0].out);
      });
    }
  }
  CHECK(std::set<std::string>{seen[0], seen[1]} == std::set<std::string>{"3\n", "5\n"});

  report = runner.run(workshop.job("E-3", {workshop.script("c", say)}), {});
  REQUIRE(report);
  CHECK(text_of(report->launches[0].out) == "\n");
}

TEST_CASE("a measurement that wants more cores than there are is an error, not a wait") {
  Workshop workshop;
  auto job = workshop.job("E-1", {workshop.script("a", "true")});
  job.cores = 100'000;
  auto refused = make_runner(SandboxRule::none).run(job, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("resources.cores") != std::string::npos);
}

TEST_CASE("a required sandbox that cannot start is an error that says what is missing") {
  Workshop workshop;
  REQUIRE(
      base::write_file_atomically(workshop.folder / "bwrap",
                                  "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' "
                                  ">&2\nexit 1\n"));
  ::chmod((workshop.folder / "bwrap").c_str(), 0755);
  auto job = workshop.job("E-1", {workshop.script("a", "true")});
  for (auto [bwrap, hint] :
       {std::pair<std::string, std::string>{"no-such-bwrap", "apt-get install"},
        {(workshop.folder / "bwrap").string(), "max_user_namespaces"}}) {
    LocalRunner required({SandboxRule::required, nullptr, bwrap}, test_clock);
    auto refused = required.run(job, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::unavailable);
    CHECK(refused.error().message.find(hint) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(job.artifacts));

    LocalRunner automatic({SandboxRule::automatic, nullptr, bwrap}, test_clock);
    auto fallback = automatic.run(job, {});
    REQUIRE(fallback);
    std::string sandbox = fallback->launches[0].machine.sandbox;
    CHECK(sandbox.starts_with("none ("));
    CHECK(sandbox.find(hint) != std::string::npos);
    REQUIRE(base::remove_tree(job.artifacts));
  }
}

TEST_CASE("the sandbox is named in the record of each launch") {
  Workshop workshop;
  auto job = workshop.job("E-1", {workshop.script("a", "true")});
  CHECK(make_runner(SandboxRule::automatic).run(job, {})->launches[0].machine.sandbox ==
        "bubblewrap");
}

TEST_CASE("one key runs once at a time") {
  Workshop workshop;
  auto job = workshop.job(
      "E-1",
      {workshop.script("a", "echo x >> " + (workshop.folder / "log/n").string() + "; sleep 0.2")});
  auto runner = make_runner(SandboxRule::none);
  bool second_refused = false;
  {
    std::jthread first([&] { (void)runner.run(job, {}); });
    while (workshop.log("n").empty()) base::wait_s(0.001);
    auto second = runner.run(job, {});
    second_refused = !second && second.error().code == base::ErrorCode::conflict;
  }
  CHECK(second_refused);
  CHECK(workshop.log("n") == "x\n");
}

// A daemon of its own that runs the job until it is killed.
pid_t start_daemon(const Job& job, SandboxRule rule) {
  pid_t daemon = ::fork();
  REQUIRE(daemon >= 0);
  if (daemon == 0) {
    auto runner = make_runner(rule);
    (void)runner.run(job, {});
    ::_exit(0);
  }
  return daemon;
}

TEST_CASE("the work of a daemon killed with SIGKILL dies or is reclaimed, and runs anew") {
  for (auto rule : {SandboxRule::required, SandboxRule::none}) {
    INFO(rule_name(rule));
    Workshop workshop;
    std::string log = (workshop.folder / "log/started").string();
    auto job =
        workshop.job("E-1", {workshop.script("a", "(setsid sleep 1000 &); echo x >> " + log +
                                                      "; [ -e " + log + ".go ] || sleep 1000")});
    pid_t daemon = start_daemon(job, rule);
    while (workshop.log("started").empty()) base::wait_s(0.001);
    CHECK(left_of(job) > 0);
    ::kill(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
    if (rule == SandboxRule::required) {
      for (int i = 0; i < 1000 && left_of(job) > 0; ++i) base::wait_s(0.001);
    } else {
      CHECK(reclaim_leftovers(workshop.folder / "artifacts/") > 0);
    }
    CHECK(left_of(job) == 0);
    REQUIRE(base::write_file_atomically(log + ".go", ""));
    auto report = make_runner(rule).run(job, {});
    REQUIRE(report);
    CHECK_FALSE(report->adopted);
    CHECK(report->launches[0].exit_code == 0);
    CHECK(workshop.log("started") == "x\nx\n");
  }
}

// CPU time, since wall time measures the other tenants of a test machine.
double own_cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + t.tv_usec / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kLaunchBound_s = 0.1;  // a fork copies the sanitizer's tables too
#else
constexpr double kLaunchBound_s = 0.01;
#endif

TEST_CASE("a launch costs the daemon under 10 ms of its own CPU time") {
  Workshop workshop;
  auto runner = make_runner(SandboxRule::required);
  REQUIRE(runner.run(workshop.job("E-0", {workshop.script("a", "true")}), {}));
  constexpr int kLaunches = 20;
  std::vector<Launch> launches;
  for (int i = 0; i < kLaunches; ++i) {
    launches.push_back(workshop.script("a" + std::to_string(i), "true"));
  }
  double before_s = own_cpu_s();
  REQUIRE(runner.run(workshop.job("E-1", launches), {}));
  CHECK((own_cpu_s() - before_s) / kLaunches < kLaunchBound_s);
}

}  // namespace
}  // namespace runners

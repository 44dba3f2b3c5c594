// Programs that mean harm, each judged by what stands outside the sandbox: canary files and
// processes, totals of disk and memory. What is bounded in time, memory and processes stands in
// local_runner_test.cc; what can be reached, in isolation_test.cc.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/process.h"
#include "runners/local_runner.h"
#include "runners/test_jobs.h"

namespace runners {
namespace {

namespace fs = std::filesystem;
using testing::make_runner;
using testing::test_clock;
using testing::text_of;
using testing::Workshop;

constexpr const char* kCanary = "alive and well\n";

// A job in the sandbox, and canaries beside its folders.
struct Attack {
  Workshop workshop;
  fs::path canary = workshop.folder / "canary";

  Attack() {
    REQUIRE(base::write_file_atomically(canary, kCanary));
    REQUIRE(base::ensure_folder(workshop.folder / "artifacts/E-7/0"));
    REQUIRE(base::write_file_atomically(workshop.folder / "artifacts/E-7/0/report.json", "{}\n"));
  }

  // The build folder is writable.
  LaunchReport run(const std::string& script, const Limits& limits = {}) {
    auto launch = workshop.script("a", script);
    launch.limits = limits;
    launch.limits.timeout_s = std::min(launch.limits.timeout_s, 20.0);
    launch.env = {{"B", launch.build.string()}, {"CANARY", canary.string()}};
    auto job = workshop.job("E-1", {launch});
    job.purpose = Purpose::build;
    auto report = make_runner(SandboxRule::required).run(job, {});
    REQUIRE(report);
    return report->launches.at(0);
  }

  void expect_unharmed() const {
    CHECK(text_of(canary) == kCanary);
    CHECK(fs::hard_link_count(canary) == 1);
    CHECK(text_of(workshop.folder / "artifacts/E-7/0/report.json") == "{}\n");
  }

  std::uintmax_t build_bytes() const {
    std::uintmax_t sum = 0;
    for (const auto& entry : fs::recursive_directory_iterator(workshop.folder / "build")) {
      if (entry.is_regular_file()) sum += entry.file_size();
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("hostile: links lead nowhere out of the sandbox") {
  Attack attack;
  auto report = attack.run(
      "ln -s \"$CANARY\" $B/link; echo harm >> $B/link; ln \"$CANARY\" $B/hard; "
      "ln -s / $B/root; echo harm > \"$B/root$CANARY\"; mv $B/link \"$CANARY\"; "
      "rm -f \"$CANARY\"; chmod 777 \"$CANARY\"; echo tried");
  CHECK(text_of(report.out) == "tried\n");
  attack.expect_unharmed();
  CHECK_FALSE(fs::exists(attack.workshop.folder / "build/hard"));
}

TEST_CASE("hostile: reports, its own too, are out of a program's reach") {
  Attack attack;
  const std::string artifacts = (attack.workshop.folder / "artifacts").string();
  auto report = attack.run("for f in $(find " + artifacts +
                           " -type f 2>/dev/null); do echo forged > $f; done; "
                           "mkdir -p " +
                           artifacts + "/E-1 && echo forged > " + artifacts +
                           "/E-1/report.json; "
                           "echo printed; : > /proc/self/fd/1; : > /proc/$$/fd/1; echo kept");
  CHECK(text_of(report.out) == "printed\nkept\n");
  attack.expect_unharmed();
  for (const auto& entry : fs::recursive_directory_iterator(attack.workshop.folder / "artifacts")) {
    if (entry.is_regular_file()) CHECK(text_of(entry.path()).find("forged") == std::string::npos);
  }
}

TEST_CASE("hostile: a disk filler of many files is ended, and the disk is free again") {
  Attack attack;
  Limits limits;
  limits.disk_bytes = std::int64_t{64} << 20;
  auto report = attack.run(
      "i=0; while :; do head -c 4194304 /dev/urandom > $B/f$i || exit 3; i=$((i+1)); done", limits);
  INFO(report.detail);
  CHECK(report.ending == Ending::signalled);
  CHECK(report.detail.find("filled the disk") != std::string::npos);
  CHECK(attack.build_bytes() > std::uintmax_t{32} << 20);
  CHECK(attack.build_bytes() < std::uintmax_t{4} << 30);
  attack.expect_unharmed();
}

TEST_CASE("hostile: endless output fills no disk and does not stop the daemon") {
  Attack attack;
  Limits limits;
  limits.output_bytes = 100'000;
  limits.timeout_s = 2;
  auto report = attack.run("yes endless & yes endless >&2", limits);
  CHECK(report.ending == Ending::timed_out);
  CHECK(report.output_cut);
  CHECK(fs::file_size(report.out) <= 100'000);
  CHECK(fs::file_size(report.err) <= 100'000);
}

TEST_CASE("hostile: signals reach nobody outside") {
  base::Command sleeper;
  sleeper.argv = {"/bin/sleep", "600"};
  auto outside = base::ProcessTree::start(sleeper);
  REQUIRE(outside);
  Attack attack;
  auto report = attack.run(
      "trap '' TERM; kill -9 -1; for p in $(seq 1 5000); do kill -9 $p; done; echo tried");
  CHECK(report.wall_s < 20);
  CHECK_FALSE(outside->wait(0));  // it sleeps on
  outside->end_all();
  attack.expect_unharmed();
}

TEST_CASE("hostile: no mount, no other user, no device and no kernel setting") {
  Attack attack;
  auto report = attack.run(
      "mount -t tmpfs none /mnt 2>/dev/null && echo mounted; "
      "chroot / true 2>/dev/null && echo chrooted; "
      "mknod $B/disk b 8 0 2>/dev/null && echo device; "
      "ls /dev/sd* /dev/nvme* /dev/vd* /dev/mem /dev/kmsg 2>/dev/null; "
      "f=/proc/sys/kernel/randomize_va_space; v=$(cat $f); (echo $v > $f) 2>/dev/null && echo "
      "sysctl; "
      "echo x 2>/dev/null > /proc/sysrq-trigger && echo sysrq; "
      "unshare -U true 2>/dev/null; su -c true nobody 2>/dev/null && echo su; echo tried");
  CHECK(text_of(report.out) == "tried\n");
}

TEST_CASE("hostile: shared memory and temporary files are gone with the program") {
  Attack attack;
  auto first =
      attack.run("echo secret > /dev/shm/left 2>/dev/null; echo secret > /tmp/left; echo ok");
  CHECK(text_of(first.out) == "ok\n");
  CHECK_FALSE(fs::exists("/dev/shm/left"));
  CHECK_FALSE(fs::exists("/tmp/left"));
}

}  // namespace runners

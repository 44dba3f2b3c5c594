// What a program in the sandbox can reach, judged from outside it.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/fd.h"
#include "runners/local_runner.h"
#include "runners/test_jobs.h"

namespace runners {
namespace {

using testing::make_runner;
using testing::text_of;
using testing::Workshop;

// Runs one script in the sandbox as a measurement and returns its stdout.
std::string sandboxed_output(const Workshop& workshop, const std::string& script,
                             Purpose purpose = Purpose::measure) {
  auto job = workshop.job("E-1", {workshop.script("a", script)});
  job.purpose = purpose;
  auto report = make_runner(SandboxRule::required).run(job, {});
  REQUIRE(report);
  INFO(report->launches[0].detail << text_of(report->launches[0].err));
  REQUIRE(report->launches[0].ending == Ending::exited);
  return text_of(report->launches[0].out);
}

TEST_CASE("a secret of the daemon's environment is not visible in the sandbox") {
  Workshop workshop;
  ::setenv("NS_TEST_SECRET", "hunter2", 1);
  std::string seen = sandboxed_output(
      workshop,
      "env; cat /proc/*/environ /proc/*/cmdline 2>&1 | tr '\\0' '\\n'; ls /proc; echo end");
  ::unsetenv("NS_TEST_SECRET");
  CHECK(seen.find("hunter2") == std::string::npos);
  CHECK(seen.find("end\n") != std::string::npos);
}

TEST_CASE("the sandbox has no network, not even the machine's own") {
  base::Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(::listen(listener.get(), 5) == 0);
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0);
  std::string connect = "bash -c 'exec 3<>/dev/tcp/127.0.0.1/" +
                        std::to_string(ntohs(address.sin_port)) + "' && echo reached; echo tried";
  Workshop workshop;
  CHECK(sandboxed_output(workshop, connect) == "tried\n");
  CHECK(::accept(listener.get(), nullptr, nullptr) < 0);
  // The same command does reach it outside: the test can tell the difference.
  auto job = workshop.job("E-2", {workshop.script("a", connect)});
  auto report = make_runner(SandboxRule::none).run(job, {});
  REQUIRE(report);
  CHECK(text_of(report->launches[0].out) == "reached\ntried\n");
}

TEST_CASE("the sandbox writes nothing outside its folders") {
  Workshop workshop;
  base::TempDir outside;
  std::string name = "nightshift-must-not-exist";
  std::string script;
  for (const std::string& folder :
       {outside.path().string(), std::string("/usr"), std::string("/etc"), std::string("/"),
        std::string("/tmp"), std::string("/dev/shm"), (workshop.folder / "tree").string(),
        (workshop.folder / "build").string(), workshop.folder.path().string()}) {
    script += "mkdir -p " + folder + " 2>/dev/null; echo x > " + folder + "/" + name + "; ";
  }
  sandboxed_output(workshop, script + "chmod 777 /usr/bin; mount -o remount,rw /usr; exit 0");
  for (const auto& folder :
       {outside.path(), std::filesystem::path("/usr"), std::filesystem::path("/etc"),
        std::filesystem::path("/"), std::filesystem::path("/tmp"),
        std::filesystem::path("/dev/shm"), workshop.folder / "tree", workshop.folder / "build",
        workshop.folder.path()}) {
    INFO(folder);
    CHECK_FALSE(std::filesystem::exists(folder / name));
  }
}

TEST_CASE(
    "a build may write its tree, its build folder and what it was given, nothing else of ours") {
  Workshop workshop;
  std::string home = workshop.folder.path();
  sandboxed_output(workshop,
                   "echo 1 > x; echo 1 > " + home + "/build/x; echo 1 > " + home +
                       "/log/x; echo 1 > $TMPDIR/x && echo 1 > " + home +
                       "/log/scratch; echo 1 > " + home + "/y; exit 0",
                   Purpose::build);
  for (auto name : {"tree/x", "build/x", "log/x", "log/scratch"}) {
    INFO(name);
    CHECK(std::filesystem::exists(workshop.folder / name));
  }
  CHECK_FALSE(std::filesystem::exists(workshop.folder / "y"));
}

TEST_CASE("the sandbox reads no home, no secrets and no other state") {
  Workshop workshop;
  base::TempDir elsewhere;
  REQUIRE(base::write_file_atomically(elsewhere / "secret", "hunter2"));
  REQUIRE(base::write_file_atomically(workshop.folder / "secret", "hunter2"));
  std::string seen = sandboxed_output(
      workshop,
      "cat " + (elsewhere / "secret").string() + " " + (workshop.folder / "secret").string() +
          " ../secret; ls -a /root /home /var /run /etc/shadow /etc/ssh /etc/ssl 2>/dev/null; "
          "ln -s " +
          (elsewhere / "secret").string() + " $TMPDIR/l; cat $TMPDIR/l; echo end");
  CHECK(seen == "end\n");
}

TEST_CASE("readable and writable paths are visible as such, a measurement's tree is read-only") {
  Workshop workshop;
  base::TempDir given;
  REQUIRE(base::write_file_atomically(given / "model", "weights"));
  auto launch = workshop.script("a", "cat " + (given / "model").string() + "; echo x > " +
                                         (given / "new").string() + "; echo x > here; exit 0");
  launch.readable = {given.path()};
  auto report = make_runner(SandboxRule::required).run(workshop.job("E-1", {launch}), {});
  REQUIRE(report);
  CHECK(text_of(report->launches[0].out) == "weights");
  CHECK_FALSE(std::filesystem::exists(given / "new"));
  CHECK_FALSE(std::filesystem::exists(workshop.folder / "tree/here"));
}

}  // namespace
}  // namespace runners

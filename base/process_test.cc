#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>

#include "base/files.h"
#include "base/process_list.h"

namespace {

using base::Command;
using base::ProcessTree;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Command shell(const std::string& script) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.env = {"PATH=/usr/bin:/bin"};
  return command;
}

// Runs it with stdout in a file and returns what it printed.
std::string output_of(Command command, const base::TempDir& folder) {
  base::Fd out(::open((folder / "out").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  command.out = out.get();
  auto tree = ProcessTree::start(command);
  REQUIRE(tree);
  tree->wait(10);
  tree->end_all();
  return base::read_file(folder / "out").value();
}

bool wait_for(const std::filesystem::path& file) {
  for (int i = 0; i < 5000 && !std::filesystem::exists(file); ++i) ::usleep(1000);
  return std::filesystem::exists(file);
}

bool is_alive(const std::string& pid) {
  auto stat = base::read_file("/proc/" + pid + "/stat");
  return stat && stat->find(") Z ") == std::string::npos;
}

std::string first_word(const std::filesystem::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

}  // namespace

TEST_CASE("exit codes and signals of the root are told apart") {
  auto exited = ProcessTree::start(shell("exit 137"));
  REQUIRE(exited);
  auto end = exited->wait(10);
  REQUIRE(end);
  CHECK_FALSE(end->signalled);
  CHECK(end->value == 137);

  auto killed = ProcessTree::start(shell("kill -SEGV $$"));
  REQUIRE(killed);
  end = killed->wait(10);
  REQUIRE(end);
  CHECK(end->signalled);
  CHECK(end->value == SIGSEGV);
}

TEST_CASE("a missing program and a missing folder are told at the start") {
  Command command = shell("true");
  command.argv[0] = "/no/such/program";
  auto missing = ProcessTree::start(command);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == base::ErrorCode::not_found);
  CHECK(missing.error().context == "/no/such/program");
  command = shell("true");
  command.folder = "/no/such/folder";
  auto nowhere = ProcessTree::start(command);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().context == "/no/such/folder");
}

TEST_CASE("the program gets exactly its arguments, environment, folder and descriptors") {
  base::TempDir folder;
  base::Fd secret(::open("/dev/zero", O_RDONLY));  // not close-on-exec: must be closed all the same
  Command command;
  command.argv = {"/usr/bin/env"};
  command.env = {"A=1", "B=two words"};
  CHECK(output_of(command, folder) == "A=1\nB=two words\n");
  command = shell("pwd; ls /proc/self/fd | wc -l; cat | wc -c");
  command.folder = folder.path();
  // ls holds 0, 1, 2 and the folder it lists.
  CHECK(output_of(command, folder) == folder.path().string() + "\n4\n0\n");
}

TEST_CASE("cores and limits are set before the program starts") {
  base::TempDir folder;
  Command command = shell("grep Cpus_allowed_list /proc/self/status; ulimit -c; ulimit -n");
  command.cores = {0};
  command.limits = {{RLIMIT_CORE, 0}, {RLIMIT_NOFILE, 77}};
  CHECK(output_of(command, folder) == "Cpus_allowed_list:\t0\n0\n77\n");
}

TEST_CASE("waiting ends at the timeout and the tree can still be ended") {
  auto tree = ProcessTree::start(shell("trap '' TERM INT; while :; do /bin/sleep 1000; done"));
  REQUIRE(tree);
  double before = now_s();
  CHECK_FALSE(tree->wait(0.05));
  CHECK(now_s() - before < 2);
  tree->end_all();
  auto end = tree->wait(0);
  REQUIRE(end);
  CHECK(end->signalled);
  CHECK(end->value == SIGKILL);
}

TEST_CASE("a tree is ended within a second, also children that detached themselves") {
  base::TempDir folder;
  // A double fork into a session of its own, with an empty environment: only its ancestry is left.
  std::string file = (folder / "pid").string();
  auto tree = ProcessTree::start(shell("(setsid env -i /bin/sh -c 'trap \"\" TERM HUP; echo $$ > " +
                                       file + ".new; mv " + file + ".new " + file +
                                       "; while :; do /bin/sleep 1000; done' &) ; exit 0"));
  REQUIRE(tree);
  REQUIRE(tree->wait(10));
  REQUIRE(wait_for(file));
  std::string pid = first_word(file);
  REQUIRE(is_alive(pid));
  double before = now_s();
  tree->end_all();
  CHECK(now_s() - before < 1);
  CHECK_FALSE(is_alive(pid));
}

TEST_CASE("a process that keeps forking is ended") {
  // Each child lives for 10 ms, so the tree is new at every look.
  auto tree = ProcessTree::start(shell("f() { while :; do (/bin/sleep 0.01 &); done; }; f & f"));
  REQUIRE(tree);
  tree->wait(0.2);
  double before = now_s();
  tree->end_all();
  CHECK(now_s() - before < 1);
}

TEST_CASE("CPU time of the whole tree is counted, of detached children too") {
  auto tree = ProcessTree::start(
      shell("(setsid /bin/sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done' &); "
            "/bin/sleep 0.1; wait; i=0; while [ $i -lt 10 ]; do i=$((i+1)); done"));
  REQUIRE(tree);
  tree->wait(10);
  CHECK(tree->end_all().cpu_s > 0.02);
}

TEST_CASE("the tree dies with a starter that was killed") {
  base::TempDir folder;
  std::string file = (folder / "pid").string();
  pid_t starter = ::fork();
  REQUIRE(starter >= 0);
  if (starter == 0) {
    auto tree = ProcessTree::start(shell("echo $$ > " + file + ".new; mv " + file + ".new " + file +
                                         "; exec /bin/sleep 1000"));
    for (;;) ::pause();
  }
  REQUIRE(wait_for(file));
  std::string pid = first_word(file);
  REQUIRE(is_alive(pid));
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  for (int i = 0; i < 2000 && is_alive(pid); ++i) ::usleep(1000);
  CHECK_FALSE(is_alive(pid));
}

TEST_CASE("processes are found by a mark in their environment, whole path components only") {
  Command command = shell("exec /bin/sleep 1000");
  command.env.push_back("NS_TEST_MARK=/state/of/base_test/E-1");
  auto tree = ProcessTree::start(command);
  REQUIRE(tree);
  auto count = [](std::string_view path, base::Marked marked) {
    return base::marked_processes("NS_TEST_MARK", path, marked).size();
  };
  CHECK(count("/state/of/base_test", base::Marked::below) == 1);
  CHECK(count("/state/of/base_test", base::Marked::exactly) == 0);
  CHECK(count("/state/of/base_test/E-1", base::Marked::below) == 1);
  CHECK(count("/state/of/base_test/E-1", base::Marked::exactly) == 1);
  CHECK(count("/state/of/base_t", base::Marked::below) == 0);
  CHECK(count("/state/of/base_test/E-1/2", base::Marked::below) == 0);
  auto unless = [](std::string_view path, std::string_view text) {
    return base::marked_processes("NS_TEST_MARK", path, base::Marked::below, text).size();
  };
  CHECK(unless("/state/of/base_test", "/E-") == 0);
  CHECK(unless("/state/of/base_test", "/F-") == 1);
  CHECK(unless("/state/of/base_test/E-1", "/E-") == 1);  // the path itself may be called so
  base::kill_all([] {
    return base::marked_processes("NS_TEST_MARK", "/state/of/base_test", base::Marked::below);
  });
  auto end = tree->wait(5);
  REQUIRE(end);
  CHECK(end->value == SIGKILL);
}

TEST_CASE("a signal does not reach a process that reused the pid") {
  auto tree = ProcessTree::start(shell("exec /bin/sleep 1000"));
  REQUIRE(tree);
  auto found = base::descendants_of(::getpid());
  REQUIRE_FALSE(found.empty());
  base::ProcessId stale = found.back();
  stale.start -= 1;
  CHECK_FALSE(base::send_signal(stale, SIGKILL));
  CHECK_FALSE(tree->wait(0.05));
}

TEST_CASE("programs are found along the given path only") {
  CHECK(base::find_program("sh", "/nowhere:/bin").value() == "/bin/sh");
  CHECK(base::find_program("/bin/sh", "").value() == "/bin/sh");
  auto missing = base::find_program("sh", "/nowhere");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message == "no such program: sh (looked in /nowhere)");
  CHECK_FALSE(base::find_program("/bin", ""));
  CHECK_FALSE(base::find_program("", "/bin"));
}

#include <signal.h>

#include <catch2/catch.hpp>

#include "base/files.h"
#include "runners/adapters.h"

namespace runners {
namespace {

using hypotheses::Probe;
using hypotheses::ProbeKind;
using hypotheses::Run;
using hypotheses::RunOutcome;

Probe probe_that(ProbeKind answers) {
  Probe probe;
  probe.name = "decode.check";
  probe.answers = answers;
  return probe;
}

struct Ended {
  base::TempDir folder;
  LaunchReport report;

  Ended(Ending ending, int value, const std::string& out = "", const std::string& err = "") {
    report.ending = ending;
    if (ending == Ending::exited) report.exit_code = value;
    if (ending == Ending::signalled) report.signal = value;
    report.out = folder / "out";
    report.err = folder / "err";
    report.wall_s = 1.5;
    REQUIRE(base::write_file_atomically(report.out, out));
    REQUIRE(base::write_file_atomically(report.err, err));
  }
};

const std::string kPassed = "{\"check\": \"decode\", \"ok\": true}\n";
const std::string kFailed =
    "{\"check\": \"decode\", \"ok\": false, \"first_mismatch\": {\"pos\": 3}}\n";
const std::string kMetric = "{\"metric\": \"decode.time\", \"value\": 3, \"unit\": \"ns\"}\n";

TEST_CASE("the outcome of a probe follows its ending") {
  struct Row {
    const char* what;
    ProbeKind kind;
    Ending ending;
    int value;
    std::string out, err;
    RunOutcome outcome;
    std::string detail;
  };
  const auto check = ProbeKind::correctness, speed = ProbeKind::speed;
  const Row rows[] = {
      {"passed", check, Ending::exited, 0, kPassed, "", RunOutcome::ok, ""},
      {"failed", check, Ending::exited, 1, kFailed, "", RunOutcome::failed_check,
       "decode failed: first mismatch at pos 3"},
      {"exit 0 with a failed check", check, Ending::exited, 0, kFailed, "",
       RunOutcome::failed_check, "decode failed: first mismatch at pos 3"},
      {"exit 1 with good checks", check, Ending::exited, 1, kPassed, "late\n",
       RunOutcome::failed_check, "exit code 1, although every check it printed is ok: late"},
      {"exit 1 with nothing", check, Ending::exited, 1, "", "", RunOutcome::failed_check,
       "exit code 1"},
      {"exit 0 with nothing", check, Ending::exited, 0, "", "", RunOutcome::bad_output,
       "probe decode.check: it printed nothing on stdout, where its nightshift output belongs"},
      {"measured", speed, Ending::exited, 0, kMetric, "", RunOutcome::ok, ""},
      {"exit 1 of a benchmark", speed, Ending::exited, 1, kMetric, "no file\n",
       RunOutcome::could_not_run, "probe decode.check ended with exit code 1: no file"},
      {"usage error", check, Ending::exited, 2, kPassed, "usage", RunOutcome::could_not_run,
       "probe decode.check ended with exit code 2: usage"},
      {"missing", check, Ending::exited, 127, "", "sh: x: not found", RunOutcome::could_not_run,
       "probe decode.check ended with exit code 127 (no such program; was it built?): sh: x: not "
       "found"},
      {"timed out", speed, Ending::timed_out, 0, kMetric, "step 3", RunOutcome::timeout,
       "killed at its time limit: step 3"},
      {"crashed", speed, Ending::signalled, SIGSEGV, kMetric, "at x", RunOutcome::crashed,
       "killed by SIGSEGV: at x"},
      {"cancelled", speed, Ending::cancelled, 0, kMetric, "", RunOutcome::lost,
       "cancelled before it ended"},
  };
  for (const auto& row : rows) {
    INFO(row.what);
    Ended ended(row.ending, row.value, row.out, row.err);
    Probe probe = probe_that(row.kind);
    Run run = interpret(ended.report, &probe, {});
    CHECK(run.outcome == row.outcome);
    CHECK(run.detail == row.detail);
    CHECK(run.wall_s == 1.5);
    bool good = row.outcome == RunOutcome::ok;
    CHECK(run.observations.size() == (good && row.kind == speed ? 1 : 0));
  }
}

TEST_CASE("a program that was not there, a limit and a cut output are said") {
  Probe probe = probe_that(ProbeKind::speed);
  Ended missing(Ending::not_started, 0);
  missing.report.detail = "no such program: /w/build/bench";
  CHECK(interpret(missing.report, &probe, {}).detail ==
        "no such program: /w/build/bench; was it built?");
  Ended hog(Ending::signalled, SIGKILL);
  hog.report.detail = "out of memory: its limit is 64 MiB";
  CHECK(interpret(hog.report, &probe, {}).detail ==
        "killed by SIGKILL (out of memory: its limit is 64 MiB)");
  Ended cut(Ending::exited, 0, kMetric);
  cut.report.output_cut = true;
  cut.report.detail = "its output was cut at 10 bytes";
  Run run = interpret(cut.report, &probe, {});
  CHECK(run.outcome == RunOutcome::bad_output);
  CHECK(run.observations.empty());
}

TEST_CASE("output files that are gone are bad output, not a pass") {
  Probe probe = probe_that(ProbeKind::speed);
  Ended ended(Ending::exited, 0, kMetric);
  ended.report.out = ended.folder / "gone";
  CHECK(interpret(ended.report, &probe, {}).outcome == RunOutcome::bad_output);
}

TEST_CASE("a build fails with its first compiler error") {
  Ended good(Ending::exited, 0, "anything");
  CHECK(interpret(good.report, nullptr, {}).outcome == RunOutcome::ok);
  Ended bad(Ending::exited, 1, "[1/2] CXX x.o\nx.h:12:3: error: 'y' was not declared\n",
            "ninja: stopped\n");
  bad.report.err = bad.folder / "none";
  Run run = interpret(bad.report, nullptr, {});
  CHECK(run.outcome == RunOutcome::build_failed);
  CHECK(run.detail == "x.h:12:3: error: 'y' was not declared");
  Ended silent(Ending::exited, 3, "", "something went wrong\n");
  CHECK(interpret(silent.report, nullptr, {}).detail == "exit code 3: something went wrong");
  Ended slow(Ending::timed_out, 0);
  CHECK(interpret(slow.report, nullptr, {}).outcome == RunOutcome::timeout);
}

TEST_CASE("the first error of compilers, linkers and build tools is found") {
  const std::pair<const char*, const char*> rows[] = {
      {"a.cc:1:2: warning: w\na.cc:3:4: error: first\nb.cc:1:1: error: second\n",
       "a.cc:3:4: error: first"},
      {"In file included from a.cc:1:\nx.h:7:10: fatal error: no.h: No such file or directory\n",
       "x.h:7:10: fatal error: no.h: No such file or directory"},
      {"\x1b[1ma.cc:3:4:\x1b[0m \x1b[31merror:\x1b[0m bad\n", "a.cc:3:4: error: bad"},
      {"k.cu(42): error: identifier \"x\" is undefined\n",
       "k.cu(42): error: identifier \"x\" is undefined"},
      {"/usr/bin/ld: a.o: in function `main':\na.cc:(.text+0x5): undefined reference to `f()'\n"
       "collect2: error: ld returned 1 exit status\n",
       "a.cc:(.text+0x5): undefined reference to `f()'"},
      {"/usr/bin/ld: cannot find -lfoo\ncollect2: error: ld returned 1 exit status\n",
       "/usr/bin/ld: cannot find -lfoo"},
      {"CMake Error at CMakeLists.txt:3 (find_package):\n  Could not find X\n  anywhere.\n\nCall "
       "Stack\n",
       "CMake Error at CMakeLists.txt:3 (find_package): Could not find X anywhere."},
      {"FAILED: x.o\nsomething odd\n", "FAILED: x.o"},
      {"ninja: error: loading 'build.ninja'\n", "ninja: error: loading 'build.ninja'"},
      {"make: *** No rule to make target 'x'.  Stop.\n",
       "make: *** No rule to make target 'x'.  Stop."},
      {"all fine\n0 errors\n", ""},
      {"", ""},
  };
  for (const auto& [output, expected] : rows) {
    INFO(output);
    CHECK(first_compiler_error(output) == expected);
  }
}

}  // namespace
}  // namespace runners

// What every Runner must hold, run on each of them. A test names its subjects and includes this:
//
//   #define RUNNER_SUBJECTS Sandboxed, Unsandboxed
//   #include "runners/runner_contract.h"
//
// A subject has runner(), workshop(), launch(name, act), launched() and stop_after(count, source).
#pragma once

#include <catch2/catch.hpp>

#include "base/process_list.h"
#include "runners/local_launch.h"
#include "runners/test_jobs.h"

namespace runners {
namespace {

using testing::Act;
using testing::text_of;

#define CONTRACT(name) TEMPLATE_TEST_CASE(name, "", RUNNER_SUBJECTS)

CONTRACT("launches run in order, each with its own output") {
  TestType subject;
  auto job =
      subject.workshop().job("E-1/0", {subject.launch("base", {.out = "one", .err = "uno"}),
                                       subject.launch("candidate", {.out = "two", .err = "due"})});
  auto report = subject.runner().run(job, {});
  REQUIRE(report);
  CHECK(report->key == "E-1/0");
  CHECK_FALSE(report->adopted);
  REQUIRE(report->launches.size() == 2);
  CHECK(subject.launched() == std::vector<std::string>{"base", "candidate"});
  CHECK(report->launches[0].name == "base");
  CHECK(text_of(report->launches[0].out) == "one");
  CHECK(text_of(report->launches[0].err) == "uno");
  CHECK(text_of(report->launches[1].out) == "two");
  CHECK(report->launches[1].ending == Ending::exited);
  CHECK(report->launches[1].exit_code == 0);
  CHECK_FALSE(report->launches[1].machine.machine.empty());
  CHECK_FALSE(report->launches[1].machine.sandbox.empty());
  CHECK(report->wall_s >= report->launches[0].wall_s);
}

CONTRACT("exit codes and signals are told as they are") {
  TestType subject;
  auto job = subject.workshop().job(
      "E-1", {subject.launch("a", {.exit_code = 1}), subject.launch("b", {.exit_code = 127}),
              subject.launch("c", {.signal = 11}), subject.launch("d", {.signal = 9})});
  auto report = subject.runner().run(job, {});
  REQUIRE(report);
  REQUIRE(report->launches.size() == 4);
  CHECK(report->launches[0].exit_code == 1);
  CHECK(report->launches[1].exit_code == 127);
  CHECK(report->launches[2].ending == Ending::signalled);
  CHECK(report->launches[2].signal == 11);
  CHECK(report->launches[3].signal == 9);
}

CONTRACT("a launch that outlasts its limit is timed out, and the next one runs") {
  TestType subject;
  auto slow = subject.launch("slow", {.out = "before", .for_ever = true});
  slow.limits.timeout_s = 1;
  auto report =
      subject.runner().run(subject.workshop().job("E-1", {slow, subject.launch("next", {})}), {});
  REQUIRE(report);
  REQUIRE(report->launches.size() == 2);
  CHECK(report->launches[0].ending == Ending::timed_out);
  CHECK(report->launches[0].exit_code == -1);
  CHECK(report->launches[0].detail.find(" 1 s") != std::string::npos);
  CHECK(report->launches[0].wall_s >= 1);
  CHECK(report->launches[0].wall_s < 2);
  CHECK(text_of(report->launches[0].out) == "before");
  CHECK(report->launches[1].exit_code == 0);
}

CONTRACT("a stop cancels the launch that runs and those that wait, and the job is not done") {
  TestType subject;
  auto first = subject.launch("first", {});
  auto second = subject.launch("second", {.for_ever = true});
  second.limits.timeout_s = 2e9;
  auto job = subject.workshop().job("E-1", {first, second, subject.launch("third", {})});
  std::stop_source source;
  {
    auto stopper = subject.stop_after(2, source);
    auto report = subject.runner().run(job, source.get_token());
    INFO((report ? "" : report.error().text()));
    REQUIRE(report);
    REQUIRE(report->launches.size() == 3);
    CHECK(report->launches[0].ending == Ending::exited);
    CHECK(report->launches[1].ending == Ending::cancelled);
    CHECK(report->launches[2].ending == Ending::cancelled);
  }
  CHECK(subject.launched().size() == 2);
  job.launches[1] = subject.launch("second", {});
  auto again = subject.runner().run(job, {});
  REQUIRE(again);
  CHECK_FALSE(again->adopted);
  CHECK(again->launches[1].exit_code == 0);
  CHECK(subject.launched().size() == 5);
}

CONTRACT("a job that was stopped before it began launches nothing") {
  TestType subject;
  std::stop_source source;
  source.request_stop();
  auto report = subject.runner().run(
      subject.workshop().job("E-1", {subject.launch("a", {}), subject.launch("b", {})}),
      source.get_token());
  REQUIRE(report);
  REQUIRE(report->launches.size() == 2);
  CHECK(report->launches[0].ending == Ending::cancelled);
  CHECK(subject.launched().empty());
}

CONTRACT("the rest is skipped after a failure only when the job says so") {
  TestType subject;
  std::vector<Launch> launches = {subject.launch("bad", {.exit_code = 2}),
                                  subject.launch("next", {})};
  auto job = subject.workshop().job("E-1", launches);
  CHECK(subject.runner().run(job, {})->launches.size() == 2);
  job = subject.workshop().job("E-2", launches);
  job.stop_at_failure = true;
  CHECK(subject.runner().run(job, {})->launches.size() == 1);
}

CONTRACT("endless output is bounded, and cut is said") {
  TestType subject;
  auto endless = subject.launch("endless", {.endless = true});
  endless.limits.timeout_s = 1;
  endless.limits.output_bytes = 10'000;
  auto report = subject.runner().run(subject.workshop().job("E-1", {endless}), {});
  REQUIRE(report);
  CHECK(report->launches[0].ending == Ending::timed_out);
  CHECK(report->launches[0].output_cut);
  CHECK(report->launches[0].detail.find("10000 bytes") != std::string::npos);
  CHECK(text_of(report->launches[0].out).size() == 10'000);
}

CONTRACT("output at the bound is whole, one byte more is cut") {
  TestType subject;
  auto exact = subject.launch("exact", {.out = std::string(1000, 'x')});
  auto more = subject.launch("more", {.err = std::string(1001, 'x')});
  exact.limits.output_bytes = more.limits.output_bytes = 1000;
  auto report = subject.runner().run(subject.workshop().job("E-1", {exact, more}), {});
  REQUIRE(report);
  CHECK_FALSE(report->launches[0].output_cut);
  CHECK(report->launches[1].output_cut);
  CHECK(text_of(report->launches[1].err).size() == 1000);
}

CONTRACT("a job that is done is adopted by its key and launches nothing again") {
  TestType subject;
  auto job = subject.workshop().job("E-1/7", {subject.launch("a", {.out = "x", .exit_code = 3})});
  auto first = subject.runner().run(job, {});
  REQUIRE(first);
  auto second = subject.runner().run(job, {});
  REQUIRE(second);
  CHECK(second->adopted);
  CHECK(subject.launched().size() == 1);
  REQUIRE(second->launches.size() == 1);
  const auto& before = first->launches[0];
  const auto& after = second->launches[0];
  CHECK(after.name == before.name);
  CHECK(after.ending == before.ending);
  CHECK(after.exit_code == 3);
  CHECK(after.out == before.out);
  CHECK(after.started == before.started);
  CHECK(after.wall_s == before.wall_s);
  CHECK(after.machine.machine == before.machine.machine);
  CHECK(after.machine.sandbox == before.machine.sandbox);
  CHECK(text_of(after.out) == "x");
}

CONTRACT("a job that is half done, or whose report is damaged, runs anew in a clean folder") {
  TestType subject;
  auto job = subject.workshop().job("E-1", {subject.launch("a", {})});
  REQUIRE(subject.runner().run(job, {}));
  REQUIRE(base::write_file_atomically(job.artifacts / "report.json", "{\"key\": \"E-1\", "));
  REQUIRE(base::ensure_folder(job.artifacts / "a.scratch/left"));
  auto report = subject.runner().run(job, {});
  REQUIRE(report);
  CHECK_FALSE(report->adopted);
  CHECK(subject.launched().size() == 2);
  CHECK_FALSE(std::filesystem::exists(job.artifacts / "a.scratch"));
}

CONTRACT("foreign files in the place of the job's own are refused and left as they are") {
  TestType subject;
  auto job = subject.workshop().job("E-1", {subject.launch("a", {})});
  REQUIRE(base::ensure_folder(job.artifacts));
  REQUIRE(base::write_file_atomically(job.artifacts / "a.out", "precious"));
  auto refused = subject.runner().run(job, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::conflict);
  CHECK(text_of(job.artifacts / "a.out") == "precious");

  auto done = subject.workshop().job("E-2", {subject.launch("a", {})});
  REQUIRE(subject.runner().run(done, {}));
  done.key = "E-3";
  CHECK_FALSE(subject.runner().run(done, {}));
}

CONTRACT("a job whose key continues another's lives in the other's folder, untouched by it") {
  TestType subject;
  auto inner = subject.workshop().job("E-1/0/build", {subject.launch("b", {.out = "inner"})});
  auto outer = subject.workshop().job("E-1/0", {subject.launch("a", {.out = "outer"})});
  REQUIRE(subject.runner().run(inner, {}));
  REQUIRE(subject.runner().run(outer, {}));
  REQUIRE(base::remove_tree(outer.artifacts / "report.json"));
  REQUIRE(subject.runner().run(outer, {}));
  CHECK(text_of(outer.artifacts / "a.out") == "outer");
  CHECK(subject.runner().run(inner, {})->adopted);
  CHECK(text_of(inner.artifacts / "b.out") == "inner");
}

CONTRACT("a key or a name that could leave its folder is refused") {
  TestType subject;
  auto good = subject.workshop().job("E-1", {subject.launch("a", {})});
  for (std::string key : {"", "..", "../x", "a/../b", "/a", "a/", "a//b", ".a", "a b", "a\nb", "-a",
                          "a\\b", "a\xc3\xa4", "a:b"}) {
    INFO(key);
    auto job = good;
    job.key = key;
    auto refused = subject.runner().run(job, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::bad_input);
    job = good;
    job.launches[0].name = key;
    CHECK_FALSE(subject.runner().run(job, {}));
  }
  auto job = good;
  job.artifacts = "relative";
  CHECK_FALSE(subject.runner().run(job, {}));
  job = good;
  job.launches.push_back(job.launches[0]);
  CHECK_FALSE(subject.runner().run(job, {}));
  job = good;
  job.launches[0].argv.clear();
  CHECK_FALSE(subject.runner().run(job, {}));
  CHECK(subject.launched().empty());
}

CONTRACT("a missing program is not started and named") {
  TestType subject;
  auto report = subject.runner().run(
      subject.workshop().job("E-1", {subject.launch("a", {.missing = true})}), {});
  REQUIRE(report);
  CHECK(report->launches[0].ending == Ending::not_started);
  CHECK(report->launches[0].detail.find("no such program: no-such-program") == 0);
}

CONTRACT("no process of a job is left, and its scratch folder is gone") {
  TestType subject;
  auto slow = subject.launch("slow", {.for_ever = true});
  slow.limits.timeout_s = 0.2;
  auto job = subject.workshop().job("E-1", {subject.launch("a", {}), slow});
  REQUIRE(subject.runner().run(job, {}));
  CHECK(base::marked_processes(kJobVariable, job.artifacts.string(), base::Marked::below).empty());
  CHECK_FALSE(std::filesystem::exists(scratch_folder(job, slow)));
}

CONTRACT("a job without launches is done at once") {
  TestType subject;
  auto job = subject.workshop().job("E-1", {});
  CHECK(subject.runner().run(job, {})->launches.empty());
  CHECK(subject.runner().run(job, {})->adopted);
}

}  // namespace
}  // namespace runners

#include "orchestrator/timelines.h"

#include <catch2/catch.hpp>

#include "orchestrator/judge.h"

namespace orchestrator {
namespace {

using hypotheses::Answer;
using hypotheses::Run;
using hypotheses::RunOutcome;
using hypotheses::Side;
using hypotheses::Verdict;

hypotheses::Manifest manifest_with_trace() {
  hypotheses::Probe probe;
  probe.name = "serve.trace";
  probe.answers = hypotheses::ProbeKind::timeline;
  probe.format = hypotheses::Format::chrome_trace;
  hypotheses::Manifest manifest;
  manifest.probes["serve.trace"] = probe;
  return manifest;
}

ExperimentRecord timeline_record() {
  ExperimentRecord record;
  record.experiment.probe = "serve.trace";
  record.experiment.key = {"serve.rate", {}};
  record.experiment.question = hypotheses::Question::own_metric;
  return record;
}

Run run_of(RunOutcome outcome, std::optional<hypotheses::Timeline> timeline = {}) {
  Run run;
  run.side = Side::base;
  run.outcome = outcome;
  run.detail = outcome == RunOutcome::ok ? "" : "the detail";
  run.timeline = std::move(timeline);
  return run;
}

}  // namespace

TEST_CASE("a timeline is told in a line, the greatest share first") {
  hypotheses::Timeline timeline{
      {{{"step"}, 0.1}, {{"step", "kda"}, 0.5}, {{"moe"}, 0.125}}, 0.05, {}};
  CHECK(timeline_text(timeline) == "step 60%, kda 50%, moe 12.5%; idle 5%");
  for (const char* span : {"a", "b", "c", "d", "e"}) timeline.stacks.push_back({{span}, 0.01});
  timeline.missing = {"x", "y"};
  CHECK(timeline_text(timeline) ==
        "step 60%, kda 50%, moe 12.5%, a 1%, b 1%, c 1% and 2 more; idle 5%; never seen: x, y");
  CHECK(timeline_text({{}, 1, {}}) == "idle 100%");
}

TEST_CASE("one run answers a timeline, whatever came of it, a lost one is run again") {
  const auto manifest = manifest_with_trace();
  ExperimentRecord record = timeline_record();
  const auto judged = [&] { return judge(record, manifest, {}); };
  CHECK(std::get<NextAttempt>(judged()).sides == std::vector{Side::base});
  record.runs = {run_of(RunOutcome::lost)};
  CHECK(std::holds_alternative<NextAttempt>(judged()));
  for (RunOutcome outcome :
       {RunOutcome::build_failed, RunOutcome::timeout, RunOutcome::crashed, RunOutcome::bad_output,
        RunOutcome::could_not_run, RunOutcome::failed_check}) {
    record.runs = {run_of(outcome)};
    const Answer failed = std::get<Answer>(judged());
    CHECK(failed.verdict == Verdict::invalid);
    CHECK(failed.reason ==
          "no timeline could be read: " + std::string(to_text(outcome)) + ": the detail");
    CHECK_FALSE(timeline_read(record, failed).timeline);
  }
  record.runs = {run_of(RunOutcome::ok)};  // its base was built, then nothing
  record.runs[0].measured = false;
  CHECK(std::holds_alternative<NextAttempt>(judged()));
  record.runs.push_back(run_of(RunOutcome::ok, hypotheses::Timeline{{{{"kda"}, 1}}, 0, {}}));
  const Answer good = std::get<Answer>(judged());
  CHECK(good.verdict == Verdict::supported);
  CHECK(good.reason == "kda 100%; idle 0%");
  const auto read = timeline_read(record, good);
  REQUIRE(read.timeline);
  CHECK(read.timeline->stacks.size() == 1);
  CHECK(read.reason == good.reason);

  // Of a hypothesis it is a measurement like any other, and no metric of its own.
  record.experiment.hypothesis = {1};
  CHECK_FALSE(is_timeline(manifest, record.experiment));
}

}  // namespace orchestrator

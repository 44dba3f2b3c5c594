// Experiments made by hand, to be judged.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/judge.h"

namespace orchestrator::judging {

using hypotheses::Answer;
using hypotheses::MetricKey;
using hypotheses::Question;
using hypotheses::Run;
using hypotheses::RunOutcome;
using hypotheses::Side;
using hypotheses::Verdict;

inline const MetricKey kTime{"toy.time", {{"batch", "1"}}};

inline hypotheses::Manifest bench_manifest(bool exact = false) {
  hypotheses::Probe probe;
  probe.name = "toy.bench";
  probe.metrics["toy.time"] = {"toy.time", hypotheses::Better::lower, "ns", exact, {}, {}};
  hypotheses::Manifest manifest;
  manifest.probes["toy.bench"] = probe;
  return manifest;
}

inline ExperimentRecord record(Question question) {
  ExperimentRecord record;
  record.experiment.id = {7};
  record.experiment.question = question;
  record.experiment.probe = "toy.bench";
  bool about_metric = question != Question::builds && question != Question::correct;
  if (about_metric) record.experiment.key = kTime;
  record.experiment.seed = 1;
  record.experiment.max_attempts = 40;
  return record;
}

inline void add(ExperimentRecord& record, int attempt, Side side, RunOutcome outcome,
                double value = 0) {
  Run run;
  run.attempt = attempt;
  run.side = side;
  run.outcome = outcome;
  run.measured = outcome != RunOutcome::build_failed;
  run.wall_s = 1.5;
  if (outcome != RunOutcome::ok) run.detail = "the detail";
  if (outcome == RunOutcome::ok && value != 0) run.observations.push_back({kTime, value, "ns"});
  record.runs.push_back(run);
  record.attempts = std::max(record.attempts, attempt + 1);
}

inline void add_pair(ExperimentRecord& record, double base, double candidate) {
  int attempt = record.attempts;
  add(record, attempt, Side::base, RunOutcome::ok, base);
  add(record, attempt, Side::candidate, RunOutcome::ok, candidate);
}

inline JudgeRule rule() { return {}; }

inline Answer answered(const ExperimentRecord& record, JudgeRule rule = {}, bool exact = false) {
  Outcome outcome = judge(record, bench_manifest(exact), rule);
  REQUIRE(std::holds_alternative<Answer>(outcome));
  return std::get<Answer>(outcome);
}

inline std::vector<Side> next(const ExperimentRecord& record, JudgeRule rule = {}) {
  Outcome outcome = judge(record, bench_manifest(), rule);
  REQUIRE(std::holds_alternative<NextAttempt>(outcome));
  return std::get<NextAttempt>(outcome).sides;
}

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// All but ok, and all but the one that is nobody's fault.
inline constexpr RunOutcome kFailures[] = {RunOutcome::failed_check,  RunOutcome::build_failed,
                                           RunOutcome::timeout,       RunOutcome::crashed,
                                           RunOutcome::could_not_run, RunOutcome::bad_output};

}  // namespace orchestrator::judging

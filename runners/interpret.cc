// From a launch's report to a run with its outcome.
#include <fmt/format.h>
#include <string.h>

#include <csignal>

#include "base/files.h"
#include "runners/adapter_parts.h"
#include "runners/adapters.h"

namespace runners {
using hypotheses::Probe;
using hypotheses::ProbeKind;
using hypotheses::Run;
using hypotheses::RunOutcome;
namespace {

constexpr std::int64_t kReadLimit_bytes = kTraceOutput_bytes;
constexpr int kNoSuchProgram = 127;  // by convention of shells and env(1)

struct Printed {
  std::string out, err;
};

void settle(Run& run, RunOutcome outcome, std::string detail) {
  run.outcome = outcome;
  run.detail = std::move(detail);
}

// "detail: last words", with either part left out when it is empty.
std::string with_last_words(const std::string& detail, const Printed& printed) {
  std::string words = last_line_of(printed.err);
  if (words.empty()) words = last_line_of(printed.out);
  if (detail.empty() || words.empty()) return detail + words;
  return detail + ": " + words;
}

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

void settle_signal(Run& run, const LaunchReport& report, const Printed& printed) {
  std::string detail = fmt::format("killed by {}", signal_name(report.signal));
  if (!report.detail.empty()) detail += " (" + clean_text(report.detail) + ")";
  settle(run, RunOutcome::crashed, with_last_words(detail, printed));
}

void settle_build(Run& run, const LaunchReport& report, const Printed& printed) {
  if (report.exit_code == 0) return settle(run, RunOutcome::ok, "");
  std::string error = first_compiler_error(printed.err);
  if (error.empty()) error = first_compiler_error(printed.out);
  if (error.empty()) {
    error = with_last_words(fmt::format("exit code {}", report.exit_code), printed);
  }
  settle(run, RunOutcome::build_failed, std::move(error));
}

// Exit 1 of a correctness probe: it ran and found a difference.
void settle_failed_check(Run& run, const Probe& probe, const hypotheses::Conditions& conditions,
                         const Printed& printed) {
  auto output = parse_output(probe, conditions, printed.out);
  if (output && !output->first_failure.empty()) {
    return settle(run, RunOutcome::failed_check, output->first_failure);
  }
  std::string detail = "exit code 1";
  if (output && output->check_ok.value_or(false))
    detail += ", although every check it printed is ok";
  settle(run, RunOutcome::failed_check, with_last_words(detail, printed));
}

void settle_output(Run& run, const LaunchReport& report, const Probe& probe,
                   const hypotheses::Conditions& conditions, const Printed& printed) {
  if (report.output_cut) {
    return settle(run, RunOutcome::bad_output,
                  fmt::format("probe {}: {}", probe.name,
                              report.detail.empty() ? "its output was cut" : report.detail));
  }
  auto output = parse_output(probe, conditions, printed.out);
  if (!output) return settle(run, RunOutcome::bad_output, output.error().text());
  if (!output->check_ok.value_or(true)) {
    return settle(run, RunOutcome::failed_check, output->first_failure);
  }
  run.observations = std::move(output->observations);
  run.timeline = std::move(output->timeline);
  settle(run, RunOutcome::ok, "");
}

void settle_exit(Run& run, const LaunchReport& report, const Probe& probe,
                 const hypotheses::Conditions& conditions, const Printed& printed) {
  if (report.exit_code == 0) return settle_output(run, report, probe, conditions, printed);
  if (report.exit_code == 1 && probe.answers == ProbeKind::correctness) {
    return settle_failed_check(run, probe, conditions, printed);
  }
  std::string detail =
      fmt::format("probe {} ended with exit code {}", probe.name, report.exit_code);
  if (report.exit_code == kNoSuchProgram) detail += " (no such program; was it built?)";
  settle(run, RunOutcome::could_not_run, with_last_words(detail, printed));
}

}  // namespace

Run interpret(const LaunchReport& report, const Probe* probe,
              const hypotheses::Conditions& conditions) {
  Run run;
  run.started = report.started;
  run.wall_s = report.wall_s;
  run.machine = report.machine;
  Printed printed{base::read_file(report.out, kReadLimit_bytes).value_or(""),
                  base::read_file(report.err, kReadLimit_bytes).value_or("")};
  switch (report.ending) {
    case Ending::timed_out:
      settle(run, RunOutcome::timeout,
             with_last_words(
                 report.detail.empty() ? "killed at its time limit" : clean_text(report.detail),
                 printed));
      break;
    case Ending::signalled:
      settle_signal(run, report, printed);
      break;
    case Ending::not_started: {
      std::string detail = clean_text(report.detail);
      if (detail.starts_with("no such program")) detail += "; was it built?";
      settle(run, RunOutcome::could_not_run, detail);
      break;
    }
    case Ending::cancelled:
      settle(run, RunOutcome::lost, "cancelled before it ended");
      break;
    case Ending::exited:
      if (probe == nullptr) {
        settle_build(run, report, printed);
      } else {
        settle_exit(run, report, *probe, conditions, printed);
      }
      break;
  }
  return run;
}

}  // namespace runners

// From what a probe printed to observations. A metric that is missing, not finite or of the wrong
// type is refused by name: it never becomes a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hypotheses/manifest.h"
#include "hypotheses/types.h"
#include "runners/runner.h"

namespace runners {

struct ProbeOutput {
  std::vector<hypotheses::Observation> observations;
  std::optional<bool> check_ok;                  // of formats with checks (nightshift, junit)
  std::string first_failure;                     // of a failed check: what, where, by how much
  std::optional<hypotheses::Timeline> timeline;  // of chrome-trace
};

// What a trace may take on stdout; of all other formats a few MiB are plenty.
inline constexpr std::int64_t kTraceOutput_bytes = 64 << 20;

// `conditions` are those the probe was run in; they become part of each observation's key. Every
// metric that the probe declares must be there.
base::Result<ProbeOutput> parse_output(const hypotheses::Probe& probe,
                                       const hypotheses::Conditions& conditions,
                                       std::string_view standard_output);

// The outcome of one launch of a probe with its observations and, for anything but `ok`, a detail
// that a person can act on. Reads the launch's output files. Build commands pass probe = nullptr.
hypotheses::Run interpret(const LaunchReport& report, const hypotheses::Probe* probe,
                          const hypotheses::Conditions& conditions);

// The first error of a compiler's or linker's output, with file and line: "x.h:12:3: error: ...".
std::string first_compiler_error(std::string_view output);

}  // namespace runners

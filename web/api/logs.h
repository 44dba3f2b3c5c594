// What the runs of an experiment printed.
#pragma once

#include <string>
#include <vector>

#include "hypotheses/types.h"
#include "store/artifacts.h"
#include "web/api/http.h"

namespace web {

// The names of the files that a run left: "candidate.out", "candidate.err", or those of a build's
// commands. Sorted; empty when there are none or they are gone.
std::vector<std::string> log_names(const store::Artifacts& artifacts, const hypotheses::Run& run);

// The end of such a file, at most kLogBytes, as plain text. What precedes is said in a first line.
inline constexpr std::int64_t kLogBytes = 256 << 10;
base::Result<Response> log_text(const store::Artifacts& artifacts, const hypotheses::Run& run,
                                const std::string& name);

}  // namespace web

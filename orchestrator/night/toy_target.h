// A target for tests of whole nights: a bare repository whose "kernel" is a shell script. Its
// metric is an exact counter, so that one pair decides and every night of a seed ends the same.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "hypotheses/ids.h"
#include "hypotheses/types.h"

namespace orchestrator {

// toy.cost is 100 with toy.tile = 1, 80 with 2, 130 with 3; toy.mode = wrong halves it and fails
// the check; toy.mode = broken does not build.
struct ToyTarget {
  std::filesystem::path source;  // the files it was made from
  std::filesystem::path bare;
  hypotheses::CommitId base;
};
// Each build and each run takes `launch_s` longer than its few milliseconds.
base::Result<ToyTarget> make_toy_target(const std::filesystem::path& folder, double launch_s = 0);

// A campaign on it with a night at once: sandbox auto, kernel evidence may be merged.
hypotheses::Campaign toy_campaign(const ToyTarget& target, const std::string& more_policy = "");

}  // namespace orchestrator

// The part of a Slurm job that runs on the node: the job as a local runner runs it, in its sandbox
// and with its limits, and what came of it into the attempt's folder.
#pragma once

#include <filesystem>
#include <stop_token>

#include "base/clock.h"

namespace runners {

// `nightshift run-job SPEC`. Returns the exit code: 0 when the job is done or could not be run for
// a reason that is written down, 1 when it was stopped or was not to run at all.
int run_slurm_job(const std::filesystem::path& spec, std::stop_token stop,
                  const base::Clock& clock);

}  // namespace runners

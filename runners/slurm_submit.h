// Handing a job to Slurm: the arguments of sbatch, and what its refusals mean.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runners/runner.h"
#include "runners/slurm_files.h"

namespace runners {

// Seconds that the job may take on its node before it is given up: all launches at their limits,
// and a minute for what is around them.
double wall_limit_s(const Job& job);

// One node, one task; the script and its arguments at the end. `worker` is the nightshift program.
std::vector<std::string> sbatch_arguments(const Job& job, const SlurmTicket& ticket,
                                          const std::filesystem::path& worker);

// The batch script: `script WORKER SPEC`.
base::Status write_script(const std::filesystem::path& attempt);

// True for what passes: no controller, a full queue, a limit on submitted jobs. Everything else is
// a mistake in the request.
bool is_passing(const std::string& refusal);

// True for a reason of a waiting job that somebody has to do something about: it is held, or asks
// for what the cluster does not have.
bool is_stuck(const std::string& reason);

}  // namespace runners

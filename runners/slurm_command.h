// One of Slurm's commands, with a time limit of our own: without a controller sbatch takes 9 s to
// fail and squeue never returns.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace runners {

struct CommandEnd {
  int exit_code = 0;
  std::string out, err;
};

// argv[0] is looked up along PATH; of our environment only what Slurm needs is passed on. Errors:
// not_found when there is no such program, timeout, unavailable when `stop` was requested. A
// command that ran and failed is no error here.
base::Result<CommandEnd> run_command(const std::vector<std::string>& argv, double timeout_s,
                                     std::stop_token stop);

// What a failed command said, on one line, without the name of the program before it.
std::string complaint_of(const CommandEnd& end);

// Blocks for so long, or until `stop` is requested; then false.
bool wait_unless_stopped(double seconds, std::stop_token stop);

}  // namespace runners

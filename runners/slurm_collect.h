// Taking over what an attempt left, so that a job's folder looks as if it had run on this machine.
#pragma once

#include <optional>

#include "runners/runner.h"
#include "runners/slurm_files.h"

namespace runners {

// The outcome of a finished attempt: its outputs are moved, the report is written, the ticket goes.
// Nothing when what it left cannot be read. The node's own error where it could not run the job.
base::Result<std::optional<JobReport>> collect(const Job& job, const SlurmTicket& ticket);

// What a stopped attempt had done by then, the rest `cancelled`; the ticket goes, no report stays.
base::Result<JobReport> collect_stopped(const Job& job, const SlurmTicket& ticket);

// Nothing was launched.
JobReport cancelled_report(const Job& job);

}  // namespace runners

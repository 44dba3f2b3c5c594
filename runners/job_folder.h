// A job's folder of artifacts: what its launches printed, and the report whose presence means
// "done".
#pragma once

#include <optional>

#include "base/files.h"
#include "runners/runner.h"

namespace runners {

// bad_input for a key or name that could leave its folder, two launches of one name, an empty
// command or relative paths.
base::Status check_job(const Job& job);

// The report of a job that is complete on disk, as `adopted`; nothing when it is not; conflict when
// the folder belongs to another key.
base::Result<std::optional<JobReport>> adopt_report(const Job& job);

// A folder that is known to be the job's, without anything that a half-done attempt of it left.
// What else is in it, such as the folders of jobs with longer keys, stays; foreign files in the
// place of the job's own are refused, never removed.
base::Status prepare_folder(const Job& job);

// Makes the job done: first what was printed, then the report reach the disk.
base::Status write_report(const Job& job, const JobReport& report,
                          base::Durability durability = base::Durability::synced);

std::filesystem::path out_file(const Job& job, const Launch& launch);
std::filesystem::path err_file(const Job& job, const Launch& launch);

// Of a launch that a stop request kept from its end, or from its beginning.
LaunchReport cancelled_launch(const Job& job, const Launch& launch);

}  // namespace runners

// What the daemon and a node tell each other: files below a job's folder of artifacts, on a file
// system that both see.
//
//   <artifacts>/slurm.json           the ticket: which attempt counts; there from before it is
//                                    submitted until its outcome is taken
//   <artifacts>/slurm-<attempt>/     one attempt: spec.json, what the launches print, report.json,
//                                    error.json, slurm.log, and `finished` as the last of all
#pragma once

#include <optional>

#include "runners/runner.h"

namespace runners {

// The fence: an attempt that is not named here has no say, whatever it still does on some node.
struct SlurmTicket {
  std::string attempt;  // unlike that of any other attempt
  std::string name;     // the job's name in Slurm
  std::string id;       // the job's number in Slurm; empty until it is known
};

// Nothing when there is none, or when it is damaged: then nothing of ours counts.
std::optional<SlurmTicket> read_ticket(const std::filesystem::path& artifacts);
base::Status write_ticket(const std::filesystem::path& artifacts, const SlurmTicket& ticket);
base::Status remove_ticket(const std::filesystem::path& artifacts);

// In the path of every attempt's folder, and of no other folder of artifacts that a daemon makes.
inline constexpr const char* kSlurmMark = "/slurm-";

std::filesystem::path attempt_folder(const std::filesystem::path& artifacts,
                                     const std::string& attempt);
std::filesystem::path finished_file(const std::filesystem::path& attempt);
std::filesystem::path stopped_file(const std::filesystem::path& attempt);
std::filesystem::path log_file(const std::filesystem::path& attempt);

// Attempts that are not this one; empty = all.
base::Status remove_attempts(const std::filesystem::path& artifacts, const std::string& but);

// What a node has to do. The job's artifacts are the attempt's folder.
struct SlurmSpec {
  Job job;
  SandboxRule sandbox = SandboxRule::required;
  std::string attempt;
  std::filesystem::path artifacts;  // of the whole job: where the ticket is
};
std::filesystem::path spec_file(const std::filesystem::path& attempt);
base::Status write_spec(const SlurmSpec& spec);
base::Result<SlurmSpec> read_spec(const std::filesystem::path& file);

// Why the node could not run the job at all.
base::Status write_error(const std::filesystem::path& attempt, const base::Error& error);
std::optional<base::Error> read_error(const std::filesystem::path& attempt);

}  // namespace runners

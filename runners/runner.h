// Doing an experiment: processes in, reports out. A Runner knows nothing of hypotheses, statistics
// or git; it launches what it is told, where it is told, within limits.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hypotheses/manifest.h"
#include "hypotheses/types.h"

namespace runners {

enum class Purpose {
  build,    // may use all cores that are not measuring
  measure,  // has its cores for itself while it runs
};

// The policy's word on the sandbox (DESIGN 10).
enum class SandboxRule { required, automatic, none };

struct Limits {
  double timeout_s = 60;
  std::int64_t output_bytes = 4 << 20;  // of stdout, and of stderr; more is cut and said
  std::int64_t memory_bytes = std::int64_t{8} << 30;
  std::int64_t file_bytes = std::int64_t{4} << 30;
  std::int64_t disk_bytes = std::int64_t{16} << 30;  // by which its disks may get fuller meanwhile
  int processes = 512;
};

// One process to launch, with everything it may see.
struct Launch {
  std::string name;               // unique in its job: "base", "candidate", "build-1"
  std::vector<std::string> argv;  // argv[0] is looked up in PATH when it has no slash
  std::filesystem::path tree;     // working folder; read-only in a measurement
  std::filesystem::path build;    // build folder; writable in a build, else read-only
  // The whole environment, besides PATH, LANG, HOME and TMPDIR (the scratch folder), PWD (the tree)
  // and NIGHTSHIFT_JOB (the job's artifacts, by which leftovers are found).
  std::map<std::string, std::string> env;
  std::vector<std::filesystem::path> readable;  // further paths it may read
  std::vector<std::filesystem::path> writable;  // further paths it may write (a compiler cache)
  Limits limits;
};

// Launches in order, back to back, on one machine: a build's commands, or the two sides of a pair.
// A job is known by its key. Asked again for a key whose report is complete on disk, a runner
// returns that report and launches nothing; so an effect that is replayed after a crash runs once.
struct Job {
  std::string key;  // "E-12/3": also the folder of its artifacts; [A-Za-z0-9._/-] only, no ".."
  Purpose purpose = Purpose::measure;
  int cores = 1;                 // a build takes up to as many
  bool stop_at_failure = false;  // for builds: skip the rest once a launch ended with an error
  std::vector<Launch> launches;
  std::filesystem::path artifacts;  // absolute folder for stdout, stderr and the report; created
  int gpus = 0;                     // so many GPU devices for itself, and no others in sight
  std::optional<hypotheses::SlurmResources> slurm = {};  // what a Slurm runner asks for
};

// An empty folder that a launch may write, removed when it ended: {scratch} in a probe's command.
std::filesystem::path scratch_folder(const Job& job, const Launch& launch);

enum class Ending { exited, signalled, timed_out, not_started, cancelled };

struct LaunchReport {
  std::string name;
  Ending ending = Ending::not_started;
  int exit_code = -1;  // of `exited`
  int signal = 0;      // of `signalled`
  std::string detail;  // why it was not started, or what was cut off
  base::Instant started;
  double wall_s = 0;
  double cpu_s = 0;                // user + system of the whole process tree, where it is known
  std::int64_t peak_bytes = 0;     // largest resident set of a process, where it is known
  std::filesystem::path out, err;  // files with what it printed
  bool output_cut = false;
  hypotheses::MachineState machine;
};

struct JobReport {
  std::string key;
  std::vector<LaunchReport> launches;  // as many as were tried, in order
  double wall_s = 0;
  bool adopted = false;  // found complete on disk; nothing was launched
};

class Runner {
 public:
  virtual ~Runner() = default;

  // Blocks until the job ended, its limits ended it, or `stop` was requested (then every launch
  // that was not finished is `cancelled`, and the job is not complete: asked again, it runs anew).
  // Afterwards no process of the job is left. An error means that the job as a whole could not be
  // run on this machine: no sandbox, no disk, a bad key.
  virtual base::Result<JobReport> run(const Job& job, std::stop_token stop) = 0;

  // What this machine offers, for `nightshift doctor` and the records: "host, processor, n cores".
  virtual std::string machine() const = 0;
};

}  // namespace runners

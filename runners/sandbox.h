// What a launch may see and touch, as arguments of bubblewrap: a system that is read-only, no
// network, process ids of its own, and of the user's files only those that were named.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "runners/launcher.h"
#include "runners/runner.h"

namespace runners {

using Environment = std::map<std::string, std::string>;

struct SandboxPlan {
  std::filesystem::path folder;                 // working folder
  std::vector<std::filesystem::path> readable;  // a path below /dev is a device, usable as such
  std::vector<std::filesystem::path> writable;
  Environment env;                      // all of it
  std::int64_t memory_files_bytes = 0;  // of /tmp and of /dev/shm
};

// The paths of a launch: tree and build are writable in a build only.
SandboxPlan plan_sandbox(const Job& job, const Launch& launch, const Environment& env,
                         const std::vector<std::filesystem::path>& devices);

// bubblewrap's options, without the program and its arguments.
std::vector<std::string> sandbox_options(const SandboxPlan& plan);

// A descriptor from which bubblewrap reads these options (--args): so neither they nor the
// environment show in its command line, and no variable of the job reaches bubblewrap itself.
base::Result<base::Fd> options_file(const std::vector<std::string>& options);

struct SandboxState {
  bool works = false;
  std::string bwrap;  // path of the program
  std::string why;    // it does not work, and what to do
};

// Finds bubblewrap (`name`, along PATH) and starts `true` in it.
SandboxState probe_sandbox(const std::string& name, Launcher& launcher);

// What to do about bubblewrap's message.
std::string sandbox_advice(const std::string& message);

}  // namespace runners

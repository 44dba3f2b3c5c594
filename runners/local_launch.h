// One launch on this machine, from its command to its report.
#pragma once

#include <optional>

#include "base/process_list.h"
#include "runners/launcher.h"
#include "runners/runner.h"
#include "runners/sandbox.h"

namespace runners {

// The variable by which every process of a job is known; its value is the job's artifact folder.
inline constexpr const char* kJobVariable = "NIGHTSHIFT_JOB";

struct LaunchSite {
  Launcher& launcher;
  const base::Clock& clock;
  std::string bwrap;                          // empty = no sandbox
  std::string sandbox;                        // as in MachineState
  std::vector<int> cores;                     // leased
  std::optional<std::vector<int>> gpus = {};  // leased; none = whatever there is, as the job says
};

// An error means that this machine cannot run launches at all (no disk, no descriptors); what is
// wrong with the launch itself is in the report.
base::Result<LaunchReport> launch_here(const Job& job, const Launch& launch, const LaunchSite& site,
                                       std::stop_token stop);

// Kills every process whose job variable is this folder, or also one below it; not those with the
// text `unless` in it.
int kill_marked(const std::filesystem::path& folder, base::Marked marked,
                std::string_view unless = {});

}  // namespace runners

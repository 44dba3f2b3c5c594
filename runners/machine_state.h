// What else went on on this machine while a launch ran.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hypotheses/types.h"

namespace runners {

std::string machine_name();  // "host (processor model, n cores)"

// Made before a launch; `finish` reads again and gives the difference.
class MachineWatch {
 public:
  explicit MachineWatch(std::vector<int> cores);

  // Without `sandbox`. `wall_s` and `cpu_s` are the launch's own; 0 where they are not known.
  hypotheses::MachineState finish(double wall_s, double cpu_s) const;

 private:
  std::vector<int> cores_;
  double load_ = 0;
  double steal_s_ = 0;  // since boot, of the cores
  double busy_s_ = 0;   // likewise, by whomever
  std::optional<std::int64_t> throttled_, free_bytes_;
};

// Why a run on `cores` cores is no fair sample of its program; empty where it is. In this order:
// other processes took more than a tenth of its cores' time; another tenant did; the cores were
// throttled. What lasted under half a second is not judged: the kernel counts in hundredths of a
// second.
std::string disturbance(const hypotheses::MachineState& state, double wall_s, std::size_t cores);

// "c++ 12.2.0, Release, -O2 -g" from what CMake left in a build folder; empty where it left
// nothing.
std::string compiler_of(const std::filesystem::path& build);

// Sums the "steal" column (clock ticks) of the cores' lines in the text of /proc/stat.
double steal_ticks(const std::string& proc_stat, const std::vector<int>& cores);

// Sums what is neither idle nor waiting nor stolen, likewise.
double busy_ticks(const std::string& proc_stat, const std::vector<int>& cores);

// "cpu MHz" of a core in the text of /proc/cpuinfo; 0 = not told.
double mhz_of(const std::string& cpuinfo, int core);

}  // namespace runners

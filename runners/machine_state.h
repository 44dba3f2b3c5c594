// What else went on on this machine while a launch ran.
#pragma once

#include <string>
#include <vector>

#include "hypotheses/types.h"

namespace runners {

std::string machine_name();  // "host (processor model, n cores)"

// Made before a launch; its destructor does nothing, `finish` reads again and gives the difference.
class MachineWatch {
 public:
  explicit MachineWatch(std::vector<int> cores);
  hypotheses::MachineState finish() const;  // without `sandbox`

 private:
  std::vector<int> cores_;
  double load_ = 0;
  double steal_s_ = 0;  // since boot, of the cores
};

// Sums the "steal" column (clock ticks) of the cores' lines in the text of /proc/stat.
double steal_ticks(const std::string& proc_stat, const std::vector<int>& cores);

// "cpu MHz" of a core in the text of /proc/cpuinfo; 0 = not told.
double mhz_of(const std::string& cpuinfo, int core);

}  // namespace runners

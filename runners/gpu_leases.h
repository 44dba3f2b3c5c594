// Who may use which GPUs: a job has its devices for itself, and sees no others.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runners/core_leases.h"

namespace runners {

class GpuPool {
 public:
  // By number, as in /dev/nvidia0.
  explicit GpuPool(const std::vector<int>& devices) : pool_(devices) {}

  // The numbers of the device files in a folder. `visible` is the value of CUDA_VISIBLE_DEVICES,
  // where it is set: only those; a value that is no list of numbers (UUIDs) leaves none.
  static std::vector<int> usable_gpus(const std::filesystem::path& dev, const char* visible);

  // Blocks until so many are free, first come, first served; none wanted = an empty lease at once.
  // `refused` when the machine has fewer or when `stop` was requested.
  base::Result<std::optional<CorePool::Lease>> acquire(int gpus, std::stop_token stop);

 private:
  CorePool pool_;  // the same rules, for other numbers
};

// The device files that a job on these GPUs needs: theirs, and those that all GPUs share.
std::vector<std::filesystem::path> gpu_files(const std::filesystem::path& dev,
                                             const std::vector<int>& gpus);

// What tells CUDA which they are: its numbers are the files' only in the order of the bus.
std::map<std::string, std::string> gpu_environment(const std::vector<int>& gpus);

}  // namespace runners

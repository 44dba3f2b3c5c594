// Limits on memory and processes of a whole job by control groups (v2 where they are delegated to
// us, else v1 where they are writable). Where there are none, rlimits hold each process alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace runners {

class ControlGroup {
 public:
  // Nothing when this machine does not let us make one.
  static std::optional<ControlGroup> make(std::int64_t memory_bytes, int processes);

  ControlGroup(ControlGroup&&) noexcept = default;
  ControlGroup& operator=(ControlGroup&&) = delete;
  ~ControlGroup();  // removes the groups; the job's processes must be gone

  // The cgroup.procs files that a process writes itself into.
  std::vector<std::string> join_files() const;
  bool ran_out_of_memory() const;

 private:
  ControlGroup() = default;
  static std::optional<ControlGroup> make_v2(std::int64_t memory_bytes, int processes);
  static std::optional<ControlGroup> make_v1(std::int64_t memory_bytes, int processes);

  std::vector<std::filesystem::path> folders_;  // ours, to be removed
  std::filesystem::path memory_;                // the one with the memory files
  bool v2_ = false;
};

// The folder of the calling process in a hierarchy, from the texts of /proc/self/mounts and
// /proc/self/cgroup; `controller` empty = v2. Empty when there is none.
std::filesystem::path group_folder(const std::string& mounts, const std::string& cgroup,
                                   const std::string& controller);

}  // namespace runners

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
  static std::optional<ControlGroup> make();

  ControlGroup(ControlGroup&&) noexcept = default;
  ControlGroup& operator=(ControlGroup&&) = delete;
  ~ControlGroup();  // removes it; processes and the thread in it must be gone

  // For what is started from now on; false when the kernel refused.
  bool limit(std::int64_t memory_bytes, int processes) const;

  // Puts the calling thread into the group, so that its children are born there: moving a process
  // in waits 10 ms and more for the kernel. Only v1 can do that; where it is not done, children
  // write themselves into join_files().
  void enter();
  std::vector<std::string> join_files() const;

  // How often the kernel has killed one of its processes for want of memory.
  long memory_kills() const;

 private:
  ControlGroup() = default;
  static std::optional<ControlGroup> make_v2();
  static std::optional<ControlGroup> make_v1();

  std::vector<std::filesystem::path> folders_;  // ours, to be removed
  std::filesystem::path memory_;                // the one with the memory files
  std::filesystem::path pids_;                  // the one with the pids files
  bool v2_ = false;
  bool entered_ = false;
};

// The folder of the calling process in a hierarchy, from the texts of /proc/self/mounts and
// /proc/self/cgroup; `controller` empty = v2. Empty when there is none.
std::filesystem::path group_folder(const std::string& mounts, const std::string& cgroup,
                                   const std::string& controller);

}  // namespace runners

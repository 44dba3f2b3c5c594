#include "runners/control_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "base/fd.h"
#include "base/files.h"

namespace runners {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kPrefix = "nightshift-";

bool has_word(const std::string& list, const std::string& word, char separator) {
  std::istringstream words(list);
  for (std::string entry; std::getline(words, entry, separator);) {
    while (!entry.empty() && entry.back() == '\n') entry.pop_back();
    if (entry == word) return true;
  }
  return false;
}

bool put(const fs::path& file, const std::string& value) {
  base::Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

std::string get(const fs::path& file) { return base::read_file(file, 1 << 16).value_or(""); }

std::string new_name() {
  static std::atomic<unsigned> counter{0};
  return fmt::format("{}{}-{}", kPrefix, ::getpid(), counter.fetch_add(1));
}

// Groups of a daemon that was killed stay behind, empty: rmdir takes no group with processes.
void remove_stale_groups(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    int pid = std::atoi(name.c_str() + kPrefix.size());
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) ::rmdir(it->path().c_str());
  }
}

bool make_folder(const fs::path& folder) {
  remove_stale_groups(folder.parent_path());
  std::error_code error;
  return fs::create_directory(folder, error) && !error;
}

}  // namespace

fs::path group_folder(const std::string& mounts, const std::string& cgroup,
                      const std::string& controller) {
  fs::path mount, own;
  std::istringstream mount_lines(mounts);
  for (std::string line; mount.empty() && std::getline(mount_lines, line);) {
    std::istringstream words(line);
    std::string device, point, type, options;
    words >> device >> point >> type >> options;
    bool matches = controller.empty() ? type == "cgroup2"
                                      : type == "cgroup" && has_word(options, controller, ',');
    if (matches) mount = point;
  }
  std::istringstream lines(cgroup);
  for (std::string line; own.empty() && std::getline(lines, line);) {
    auto first = line.find(':');
    auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    bool matches =
        controller.empty() ? controllers.empty() : has_word(controllers, controller, ',');
    if (matches) own = line.substr(second + 1);
  }
  if (mount.empty() || own.empty()) return {};
  return (mount / own.relative_path()).lexically_normal();
}

std::optional<ControlGroup> ControlGroup::make_v2() {
  fs::path own = group_folder(get("/proc/self/mounts"), get("/proc/self/cgroup"), "");
  if (own.empty()) return {};
  // A group with processes cannot pass controllers on, so a delegated daemon sits in a leaf and its
  // groups become the leaf's siblings.
  for (const fs::path& parent : {own, own.parent_path()}) {
    std::string passed_on = get(parent / "cgroup.subtree_control");
    if (!has_word(passed_on, "memory", ' ') || !has_word(passed_on, "pids", ' ')) continue;
    ControlGroup group;
    group.v2_ = true;
    group.memory_ = group.pids_ = parent / new_name();
    if (!make_folder(group.memory_)) continue;
    group.folders_ = {group.memory_};
    put(group.memory_ / "memory.swap.max", "0");
    return group;
  }
  return {};
}

std::optional<ControlGroup> ControlGroup::make_v1() {
  std::string mounts = get("/proc/self/mounts"), cgroup = get("/proc/self/cgroup");
  ControlGroup group;
  for (const char* controller : {"memory", "pids"}) {
    fs::path own = group_folder(mounts, cgroup, controller);
    if (own.empty()) return {};
    fs::path folder = own / new_name();
    if (!make_folder(folder)) return {};
    group.folders_.push_back(folder);
  }
  group.memory_ = group.folders_[0];
  group.pids_ = group.folders_[1];
  return group;
}

std::optional<ControlGroup> ControlGroup::make() {
  if (auto group = make_v2()) return group;
  return make_v1();
}

ControlGroup::~ControlGroup() {
  for (const auto& folder : folders_) ::rmdir(folder.c_str());
}

bool ControlGroup::limit(std::int64_t memory_bytes, int processes) const {
  if (entered_) processes += 2;  // the thread that is in it, and the guard of what it starts
  return put(memory_ / (v2_ ? "memory.max" : "memory.limit_in_bytes"),
             std::to_string(memory_bytes)) &&
         put(pids_ / "pids.max", std::to_string(processes));
}

void ControlGroup::enter() {
  if (v2_) return;
  entered_ = put(memory_ / "tasks", "0") && put(pids_ / "tasks", "0");
}

std::vector<std::string> ControlGroup::join_files() const {
  std::vector<std::string> files;
  if (entered_) return files;
  for (const auto& folder : folders_) files.push_back(folder / "cgroup.procs");
  return files;
}

long ControlGroup::memory_kills() const {
  std::istringstream lines(get(memory_ / (v2_ ? "memory.events" : "memory.oom_control")));
  std::string name;
  long count = 0;
  while (lines >> name >> count) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

}  // namespace runners

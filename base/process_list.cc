#include "base/process_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "base/fd.h"
#include "base/files.h"

namespace base {
namespace fs = std::filesystem;
namespace {

struct Entry {
  ProcessId id;
  pid_t parent = 0;
  char state = '?';
  int threads = 0;
};

// /proc/<pid>/stat: the name in parentheses may hold anything, so fields count from the last ')'.
std::optional<Entry> read_entry(pid_t pid) {
  auto text = read_file("/proc/" + std::to_string(pid) + "/stat", 1 << 16);
  if (!text) return {};
  auto close = text->rfind(')');
  if (close == std::string::npos) return {};
  Entry entry;
  entry.id.pid = pid;
  long parent = 0, threads = 0;
  int fields = std::sscanf(text->c_str() + close + 1,
                           " %c %ld %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                           "%ld %*s %llu",
                           &entry.state, &parent, &threads, &entry.id.start);
  if (fields != 4) return {};
  entry.parent = static_cast<pid_t>(parent);
  entry.threads = static_cast<int>(threads);
  return entry;
}

std::vector<pid_t> all_pids() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (fs::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    pid_t pid = 0;
    auto [rest, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad == std::errc() && rest == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

// CONFIG_PROC_CHILDREN: then a look at a tree costs as much as the tree, not as much as the
// machine.
bool kernel_lists_children() {
  static const bool lists =
      ::access(("/proc/self/task/" + std::to_string(::getpid()) + "/children").c_str(), R_OK) == 0;
  return lists;
}

// May miss a child whose sibling ends meanwhile: callers look again until nobody is left.
void add_children(pid_t pid, std::vector<pid_t>& tree) {
  std::error_code error;
  fs::directory_iterator it("/proc/" + std::to_string(pid) + "/task", error), end;
  for (; !error && it != end; it.increment(error)) {
    std::istringstream children(read_file(it->path() / "children", 1 << 20).value_or(""));
    for (pid_t child = 0; children >> child;) {
      if (std::find(tree.begin(), tree.end(), child) == tree.end()) tree.push_back(child);
    }
  }
}

// A zombie may still have living children (of other threads), so it stays in the walk.
std::vector<pid_t> tree_by_parents(pid_t root) {
  std::vector<Entry> entries;
  for (pid_t pid : all_pids()) {
    if (auto entry = read_entry(pid)) entries.push_back(*entry);
  }
  std::set<pid_t> tree{root};
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& entry : entries) {
      if (tree.count(entry.parent) != 0 && tree.insert(entry.id.pid).second) grown = true;
    }
  }
  return {tree.begin(), tree.end()};
}

bool is_dead(const Entry& entry) { return entry.state == 'Z' || entry.state == 'X'; }

}  // namespace

std::vector<ProcessId> descendants_of(pid_t root) {
  std::vector<pid_t> tree{root};
  if (kernel_lists_children()) {
    for (std::size_t i = 0; i < tree.size(); ++i) add_children(tree[i], tree);
  } else {
    tree = tree_by_parents(root);
  }
  std::vector<ProcessId> result;
  for (pid_t pid : tree) {
    auto entry = pid == root ? std::nullopt : read_entry(pid);
    if (entry && !is_dead(*entry)) result.push_back(entry->id);
  }
  return result;
}

std::vector<ProcessId> marked_processes(std::string_view name, std::string_view path, Marked marked,
                                        std::string_view unless) {
  const std::string wanted = std::string(name) + "=" + std::string(path);
  auto matches = [&](std::string_view variable) {
    if (!variable.starts_with(wanted)) return false;
    if (!unless.empty() && variable.find(unless, wanted.size()) != std::string_view::npos) {
      return false;
    }
    return variable.size() == wanted.size() ||
           (marked == Marked::below && variable[wanted.size()] == '/');
  };
  std::vector<ProcessId> result;
  for (pid_t pid : all_pids()) {
    if (pid == ::getpid()) continue;
    auto entry = read_entry(pid);  // before the environment, so that a reused pid is noticed
    auto text = read_file("/proc/" + std::to_string(pid) + "/environ", 4 << 20);
    if (!entry || !text || is_dead(*entry)) continue;
    for (std::string_view rest = *text; !rest.empty();) {
      auto end = std::min(rest.find('\0'), rest.size());
      if (matches(rest.substr(0, end))) {
        result.push_back(entry->id);
        break;
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return result;
}

bool send_signal(const ProcessId& process, int signal) {
  // The pidfd pins whoever has the pid now; only then is it compared.
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!fd) return false;
  auto entry = read_entry(process.pid);
  if (!entry || entry->id != process) return false;
  return ::syscall(SYS_pidfd_send_signal, fd.get(), signal, nullptr, 0) == 0;
}

int kill_all(const std::function<std::vector<ProcessId>()>& list) {
  constexpr int kRounds = 50;  // a stopped process forks no more, so few are needed
  std::set<ProcessId> stopped;
  for (int round = 0; round < kRounds; ++round) {
    bool grown = false;
    for (const auto& process : list()) {
      if (!stopped.insert(process).second) continue;
      grown = true;
      send_signal(process, SIGSTOP);
    }
    if (!grown) break;
  }
  for (const auto& process : stopped) send_signal(process, SIGKILL);
  return static_cast<int>(stopped.size());
}

int threads_of_user(uid_t user) {
  int count = 0;
  for (pid_t pid : all_pids()) {
    struct stat status {};
    if (::stat(("/proc/" + std::to_string(pid)).c_str(), &status) != 0) continue;
    if (status.st_uid != user) continue;
    if (auto entry = read_entry(pid)) count += entry->threads;
  }
  return count;
}

}  // namespace base

// Who runs on this machine, from /proc, and signals that cannot hit a reused pid.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string_view>
#include <vector>

namespace base {

struct ProcessId {
  pid_t pid = 0;
  unsigned long long start = 0;  // clock ticks after boot; pid and start together are unique
  auto operator<=>(const ProcessId&) const = default;
};

// Children, their children and so on, zombies left out; `root` itself is not in it.
std::vector<ProcessId> descendants_of(pid_t root);

// Processes whose environment holds `name`=`path`, or with `below` also a path under it ("/a"
// matches "/a" and "/a/b", not "/ab"). Our own process is not in it, nor are those whose value
// holds the text `unless` behind the path.
enum class Marked { exactly, below };
std::vector<ProcessId> marked_processes(std::string_view name, std::string_view path, Marked marked,
                                        std::string_view unless = {});

// False when the process is gone already.
bool send_signal(const ProcessId& process, int signal);

// Stops all that `list` finds, asking it again until nothing new was forked meanwhile, then kills
// them. Returns how many.
int kill_all(const std::function<std::vector<ProcessId>()>& list);

// Threads of all processes of a user: what RLIMIT_NPROC counts.
int threads_of_user(uid_t user);

}  // namespace base

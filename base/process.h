// Starting a program so that everything it starts, however it detaches itself, can be found and
// ended.
//
//   this process ── guard (a fork of us; subreaper) ── root (the program) ── ... its descendants
//
// The guard adopts whatever the program orphans (double fork, setsid), so "the tree" is exactly the
// guard's descendants; it reaps them, adds up their CPU time, and exits when none is left.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace base {

struct ResourceLimit {
  int resource = 0;  // RLIMIT_...
  std::uint64_t value = 0;
};

// A program and all that it gets; nothing else is inherited. stdin is /dev/null.
struct Command {
  std::vector<std::string> argv;      // argv[0] is a path
  std::vector<std::string> env;       // "NAME=value"
  std::filesystem::path folder;       // working folder; empty = ours
  int out = -1, err = -1;             // its stdout and stderr; -1 = /dev/null
  std::vector<int> keep;              // further descriptors, under the numbers they have here
  std::vector<int> cores;             // it may run on; empty = as we do
  std::vector<ResourceLimit> limits;  // soft and hard
  std::vector<std::string> groups;    // cgroup.procs files to join
};

// How the root of a tree ended.
struct Ended {
  bool signalled = false;
  int value = 0;  // the exit code, or the signal
};

// Of the whole tree.
struct TreeUsage {
  double cpu_s = 0;             // user + system
  std::int64_t peak_bytes = 0;  // largest resident set of one process; 0 = unknown
};

class ProcessTree {
 public:
  // The tree dies with the *thread* that calls this (PR_SET_PDEATHSIG), so call from one that lives
  // long enough. not_found when argv[0] or the folder does not exist.
  static Result<ProcessTree> start(const Command& command);

  ProcessTree(ProcessTree&&) noexcept = default;
  ProcessTree& operator=(ProcessTree&&) = delete;
  ~ProcessTree();  // ends the tree

  // Readable when the root ended or the guard is gone: for poll().
  int ended_fd() const { return notes_.get(); }

  // Blocks until the root ended; nothing when `timeout_s` (negative = none) passed before.
  std::optional<Ended> wait(double timeout_s);

  // Kills what is left of the tree, the root too, and blocks until the kernel has removed all of
  // it.
  TreeUsage end_all();

 private:
  ProcessTree(pid_t guard, Fd guard_fd, pid_t root, Fd notes)
      : guard_(guard), guard_fd_(std::move(guard_fd)), root_(root), notes_(std::move(notes)) {}
  bool read_note(int timeout_ms);
  bool guard_ended(int timeout_ms) const;

  pid_t guard_ = 0;
  Fd guard_fd_;  // pidfd; none once reaped or moved from
  pid_t root_ = 0;
  Fd notes_;  // what the guard says
  std::optional<Ended> ended_;
  TreeUsage usage_;
};

// The path of a program: `name` itself when it has a slash, else the first in `path` ("/a:/b") that
// can be executed. not_found names both.
Result<std::string> find_program(const std::string& name, std::string_view path);

}  // namespace base

// Long-lived threads that start processes. A process tree dies with the thread that started it (so
// does bubblewrap's --die-with-parent), and the threads that run jobs come and go.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/process.h"
#include "base/queue.h"
#include "runners/control_group.h"

namespace runners {

// One thread, which starts one tree after the other, and the control group in which they run.
class Launcher {
 public:
  Launcher();
  ~Launcher();  // every tree it started must have ended

  base::Result<base::ProcessTree> start(const base::Command& command);

  // None where the machine offers none.
  const ControlGroup* group() const { return group_ ? &*group_ : nullptr; }

 private:
  using Task = std::packaged_task<base::Result<base::ProcessTree>()>;
  base::Queue<Task> tasks_;
  std::optional<ControlGroup> group_;  // removed after the thread, which may be in it, is gone
  std::jthread thread_;
};

// Launchers that are not in use, kept for the next job.
class LauncherPool {
 public:
  // Goes back when it is let go. The pool must outlive it.
  struct GiveBack {
    LauncherPool* pool;
    void operator()(Launcher* launcher) const;
  };
  using Lease = std::unique_ptr<Launcher, GiveBack>;

  Lease take();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Launcher>> idle_;  // guarded by mutex_
};

}  // namespace runners

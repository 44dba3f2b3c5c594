// One long-lived thread that starts all processes. A process tree dies with the thread that started
// it (so does bubblewrap's --die-with-parent), and the threads that run jobs come and go.
#pragma once

#include <future>
#include <thread>

#include "base/process.h"
#include "base/queue.h"

namespace runners {

class Launcher {
 public:
  Launcher();
  ~Launcher();  // every tree it started must have ended

  base::Result<base::ProcessTree> start(const base::Command& command);

 private:
  using Task = std::packaged_task<base::Result<base::ProcessTree>()>;
  base::Queue<Task> tasks_;
  std::jthread thread_;
};

}  // namespace runners

#include "runners/launcher.h"

namespace runners {

Launcher::Launcher()
    : thread_([this] {
        while (!tasks_.closed()) {
          if (auto task = tasks_.pop(std::chrono::hours(1))) (*task)();
        }
      }) {}

Launcher::~Launcher() { tasks_.close(); }

base::Result<base::ProcessTree> Launcher::start(const base::Command& command) {
  Task task([&command] { return base::ProcessTree::start(command); });
  auto result = task.get_future();
  tasks_.push(std::move(task));
  return result.get();
}

}  // namespace runners

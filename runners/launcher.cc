#include "runners/launcher.h"

namespace runners {

Launcher::Launcher() {
  std::promise<void> ready;
  thread_ = std::jthread([this, &ready] {
    if (auto made = ControlGroup::make()) {
      group_.emplace(std::move(*made));
      group_->enter();
    }
    ready.set_value();
    while (!tasks_.closed()) {
      if (auto task = tasks_.pop(std::chrono::hours(1))) (*task)();
    }
  });
  ready.get_future().wait();
}

Launcher::~Launcher() {
  tasks_.close();
  thread_.join();
}

base::Result<base::ProcessTree> Launcher::start(const base::Command& command) {
  Task task([&command] { return base::ProcessTree::start(command); });
  auto result = task.get_future();
  tasks_.push(std::move(task));
  return result.get();
}

LauncherPool::Lease LauncherPool::take() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Lease lease(idle_.back().release(), GiveBack{this});
      idle_.pop_back();
      return lease;
    }
  }
  return Lease(new Launcher, GiveBack{this});
}

void LauncherPool::GiveBack::operator()(Launcher* launcher) const {
  std::lock_guard lock(pool->mutex_);
  pool->idle_.emplace_back(launcher);
}

}  // namespace runners

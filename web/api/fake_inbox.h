// A CommandInbox for tests: keeps what it was given, answers what it was told to.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "web/api/ports.h"

namespace web {

class FakeInbox final : public CommandInbox {
 public:
  base::Result<Reply> submit(Command command) override {
    std::function<base::Result<Reply>(const Command&)> answer;
    {
      std::lock_guard lock(mutex_);
      commands_.push_back(command);
      answer = answer_;
    }
    return answer ? answer(command) : Reply{"X-1", "done"};
  }

  // Instead of "done"; called on the request's thread.
  void answer_with(std::function<base::Result<Reply>(const Command&)> answer) {
    std::lock_guard lock(mutex_);
    answer_ = std::move(answer);
  }
  std::vector<Command> commands() const {
    std::lock_guard lock(mutex_);
    return commands_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Command> commands_;                              // guarded by mutex_
  std::function<base::Result<Reply>(const Command&)> answer_;  // guarded by mutex_
};

}  // namespace web

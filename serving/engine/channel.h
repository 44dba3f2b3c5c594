// What an answer holds that is not read yet. It never has more than max_tokens + 1 steps, so the
// engine does not wait for a slow reader.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "serving/engine/engine.h"

namespace serving {

class Channel {
 public:
  void push(Step step) {
    bool wake = false;
    {
      std::lock_guard lock(mutex_);
      steps_.push_back(std::move(step));
      wake = reader_waits_;  // waking costs a system call; most steps find nobody to wake
    }
    if (wake) ready_.notify_one();
  }

  std::optional<Step> pop(std::chrono::milliseconds wait) {
    std::unique_lock lock(mutex_);
    reader_waits_ = true;
    ready_.wait_for(lock, wait, [&] { return !steps_.empty(); });
    reader_waits_ = false;
    if (steps_.empty()) return {};
    Step step = std::move(steps_.front());
    steps_.pop_front();
    return step;
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Step> steps_;     // guarded by mutex_
  bool reader_waits_ = false;  // guarded by mutex_
};

}  // namespace serving

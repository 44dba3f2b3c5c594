// Threads that share the tasks of one job at a time. Whoever asks works too, and threads without
// work sleep: on a busy machine a job takes longer, but nothing burns the time that others need.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace serving {

class ThreadPool {
 public:
  // `threads` in all, the caller's among them, at least 1. `pin`: each thread but the caller's
  // keeps to one processor, of those that this process may use.
  explicit ThreadPool(int threads, bool pin = false);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  int threads() const { return int(workers_.size()) + 1; }

  // Calls f(task, worker) for every task below `count`, each once, on any thread, and returns when
  // all are done; worker is below threads() and no two calls at a time have the same. `f` must not
  // throw. One caller at a time, and not from within a task.
  template <class F>
  void run(int count, const F& f) {
    if (count == 1 || workers_.empty()) {
      for (int task = 0; task < count; ++task) f(task, 0);
    } else if (count > 0) {
      share({[](const void* context, int task, int worker) {
               (*static_cast<const F*>(context))(task, worker);
             },
             &f, count});
    }
  }

 private:
  struct Job {
    void (*call)(const void* context, int task, int worker) = nullptr;
    const void* context = nullptr;
    int count = 0;
  };
  void share(const Job& job);
  void work(std::stop_token stop, int worker);
  void take_tasks(const Job& job, int worker);

  std::atomic<int> next_task_ = 0;  // of the job under way
  std::mutex mutex_;                // guards what follows
  std::condition_variable_any start_, done_;
  Job job_;  // no `call`: none is under way; a worker that wakes late goes on sleeping
  std::uint64_t generation_ = 0;  // of jobs
  int working_ = 0;               // workers inside the job
  std::vector<std::jthread> workers_;
};

}  // namespace serving

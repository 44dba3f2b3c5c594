#include "serving/core/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <string>

namespace serving {
namespace {

// Where it is forbidden the thread stays unpinned, which costs speed only.
void pin_to_nth_processor(std::jthread& thread, int n) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int count = CPU_COUNT(&allowed);
  if (count == 0) return;
  n %= count;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || n-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(thread.native_handle(), sizeof one, &one);
    return;
  }
}

}  // namespace

ThreadPool::ThreadPool(int threads, bool pin) {
  for (int worker = 1; worker < threads; ++worker) {
    workers_.emplace_back([this, worker](const std::stop_token& stop) { work(stop, worker); });
    const std::string name = "worker " + std::to_string(worker);
    pthread_setname_np(workers_.back().native_handle(), name.c_str());
    if (pin) pin_to_nth_processor(workers_.back(), worker);
  }
}

ThreadPool::~ThreadPool() {
  for (std::jthread& worker : workers_) worker.request_stop();
  workers_.clear();  // joins while the members that they use still live
}

void ThreadPool::share(const Job& job) {
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
    next_task_.store(0, std::memory_order_relaxed);
    ++generation_;
  }
  start_.notify_all();
  take_tasks(job, 0);
  std::unique_lock lock(mutex_);
  job_ = {};
  done_.wait(lock, [this] { return working_ == 0; });
}

void ThreadPool::work(std::stop_token stop, int worker) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (start_.wait(lock, stop, [&] { return generation_ != seen; })) {
    seen = generation_;
    const Job job = job_;
    if (job.call == nullptr) continue;
    ++working_;
    lock.unlock();
    take_tasks(job, worker);
    lock.lock();
    if (--working_ == 0) done_.notify_one();
  }
}

void ThreadPool::take_tasks(const Job& job, int worker) {
  for (int task; (task = next_task_.fetch_add(1, std::memory_order_relaxed)) < job.count;) {
    job.call(job.context, task, worker);
  }
}

}  // namespace serving

// Who may use which cores: a measurement has its cores for itself, a build takes what is left.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "runners/runner.h"

namespace runners {

class CorePool {
 public:
  explicit CorePool(std::vector<int> cores)
      : free_(cores.begin(), cores.end()), total_(free_.size()) {}

  // The cores that this process may run on.
  static std::vector<int> usable_cores();

  // Cores that nobody else has until it goes away. The pool must outlive it.
  class Lease {
   public:
    Lease(Lease&& other) noexcept : pool_(other.pool_), cores_(std::move(other.cores_)) {
      other.pool_ = nullptr;
    }
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    const std::vector<int>& cores() const { return cores_; }

   private:
    friend class CorePool;
    Lease(CorePool* pool, std::vector<int> cores) : pool_(pool), cores_(std::move(cores)) {}
    CorePool* pool_;
    std::vector<int> cores_;
  };

  // Blocks until it is this request's turn: first come, first served, so a measurement that waits
  // for many cores is not overtaken for ever by small builds. A measurement gets exactly `cores`, a
  // build at least 1 and at most `cores`. `refused` when a measurement wants more than the machine
  // has or when `stop` was requested.
  base::Result<Lease> acquire(Purpose purpose, int cores, std::stop_token stop);

  int total() const { return static_cast<int>(total_); }

 private:
  void give_back(const std::vector<int>& cores);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::set<int> free_;                 // guarded by mutex_
  std::deque<std::uint64_t> waiting_;  // tickets in order of arrival; guarded by mutex_
  std::uint64_t next_ticket_ = 0;      // guarded by mutex_
  std::size_t total_;
};

}  // namespace runners

// Which jobs run: a job may not run twice at the same time.
#pragma once

#include <mutex>
#include <set>
#include <string>

namespace runners {

class RunningKeys {
 public:
  // Holds a key until it goes away. The keys must outlive it.
  class Entry {
   public:
    Entry(RunningKeys& keys, std::string key) : keys_(keys), key_(std::move(key)) {
      std::lock_guard lock(keys_.mutex_);
      entered_ = keys_.running_.insert(key_).second;
    }
    ~Entry() {
      std::lock_guard lock(keys_.mutex_);
      if (entered_) keys_.running_.erase(key_);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    bool entered() const { return entered_; }  // false: somebody else holds it

   private:
    RunningKeys& keys_;
    std::string key_;
    bool entered_ = false;
  };

 private:
  std::mutex mutex_;
  std::set<std::string> running_;  // guarded by mutex_
};

}  // namespace runners

// What Slurm says of our jobs: one squeue for all of them, at an interval, however many wait.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "base/result.h"

namespace runners {

struct SlurmState {
  std::string id;      // "1234"
  std::string state;   // Slurm's word: PENDING, RUNNING, COMPLETED, NODE_FAIL, ...
  std::string node;    // empty while it waits
  std::string reason;  // why it waits
  int restarts = 0;    // how often Slurm itself started it again
};

// Not over: it waits, runs, or is about to.
bool is_live(const SlurmState& job);

// Jobs by name, from what squeue printed with the format of `SlurmQueue`.
std::map<std::string, SlurmState> read_listing(const std::string& text);

class SlurmQueue {
 public:
  explicit SlurmQueue(double interval_s = 1);
  ~SlurmQueue();

  // The job of this name in a listing that was begun after the call; nothing where Slurm knows of
  // no such job (any more). Errors: squeue failed or did not answer; unavailable when stopped.
  base::Result<std::optional<SlurmState>> look(const std::string& name, std::stop_token stop);

  // Cancels the job of this name, again at each listing until it is over. Returns at once.
  void cancel(const std::string& name);

 private:
  using Jobs = std::map<std::string, SlurmState>;
  using Listing = base::Result<Jobs>;
  void serve(std::stop_token stop);
  void cancel_doomed(const std::set<std::string>& doomed, const Jobs& jobs, std::stop_token stop);

  const double interval_s_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int waiting_ = 0;               // callers of look(); guarded by mutex_
  std::int64_t begun_ = 0;        // listings; guarded by mutex_
  std::int64_t done_ = 0;         // guarded by mutex_
  Listing listing_;               // the last one done; guarded by mutex_
  std::set<std::string> doomed_;  // names to cancel; guarded by mutex_
  std::jthread thread_;           // last: it uses all above
};

}  // namespace runners

// What other threads ask of the engine's thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "serving/core/result.h"
#include "serving/engine/channel.h"
#include "serving/engine/engine.h"
#include "serving/engine/sequence.h"

namespace serving {

struct Submission {
  SequenceId id = 0;
  Request request;
  std::shared_ptr<Channel> channel;
};

struct Mail {
  std::vector<Submission> submissions;  // in order of arrival
  std::vector<SequenceId> cancelled;    // submitted before, perhaps in the same mail; perhaps ended
};

// Shared by the engine and its answers, which may outlive it.
class Inbox {
 public:
  explicit Inbox(int limit) : limit_(limit) {}  // requests under way

  // overloaded: as many as the limit are under way; unavailable: closed.
  Result<SequenceId> submit(Request request, std::shared_ptr<Channel> channel);
  void cancel(SequenceId id);

  // For the engine's thread. What came since, into `mail`; waits for something where `idle`. False
  // once a stop is requested: nothing more is accepted, and `mail` is the last.
  bool receive(const std::stop_token& stop, bool idle, Mail& mail);
  void ended(int requests);

 private:
  const int limit_;
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  Mail mail_;            // guarded by mutex_
  SequenceId last_ = 0;  // guarded by mutex_
  int under_way_ = 0;    // guarded by mutex_
  bool closed_ = false;  // guarded by mutex_
};

}  // namespace serving

// SIGINT and SIGTERM as a stop token.
#pragma once

#include <stop_token>
#include <thread>

namespace orchestrator {

// Blocks both signals for this thread and those it starts later, and waits for them on a thread of
// its own. Make it before any other thread.
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread waiter_;
};

}  // namespace orchestrator

#include "orchestrator/signals.h"

#include <signal.h>

namespace orchestrator {

namespace {

sigset_t end_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

SignalStop::SignalStop() {
  sigset_t set = end_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  waiter_ = std::jthread([this, set](std::stop_token end) {
    timespec wait{0, 200'000'000};
    while (!end.stop_requested()) {
      if (sigtimedwait(&set, nullptr, &wait) > 0) {
        source_.request_stop();
        return;
      }
    }
  });
}

SignalStop::~SignalStop() = default;

}  // namespace orchestrator

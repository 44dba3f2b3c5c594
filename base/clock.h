// Time as a dependency: the daemon reads the system clock here and nowhere else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace base {

// Milliseconds since 1970-01-01 UTC. Used for everything that is stored or scheduled.
struct Instant {
  std::int64_t ms = 0;
  auto operator<=>(const Instant&) const = default;
  Instant plus_s(double seconds) const { return {ms + static_cast<std::int64_t>(seconds * 1e3)}; }
  double seconds_since(Instant earlier) const { return static_cast<double>(ms - earlier.ms) / 1e3; }
};

// "2026-12-01T03:04:05.678Z"
std::string to_text(Instant instant);

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;         // wall time; may jump
  virtual double monotonic_s() const = 0;  // never goes back; for durations
};

class SystemClock final : public Clock {
 public:
  Instant now() const override;
  double monotonic_s() const override;
};

// Lets time pass. For tests and tools that have to let another process go on; the daemon itself
// waits on queues and conditions.
void wait_s(double seconds);

// A clock that a test moves by hand.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start) : now_(start) {}
  Instant now() const override { return now_; }
  double monotonic_s() const override { return static_cast<double>(now_.ms) / 1e3; }
  void advance_s(double seconds) { now_ = now_.plus_s(seconds); }

 private:
  Instant now_;
};

}  // namespace base

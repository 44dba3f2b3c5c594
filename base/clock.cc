#include "base/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <thread>

namespace base {

std::string to_text(Instant instant) {
  std::int64_t seconds = instant.ms / 1000;
  std::int64_t millis = instant.ms % 1000;
  if (millis < 0) {
    millis += 1000;
    --seconds;
  }
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(seconds)),
                     millis);
}

Instant SystemClock::now() const {
  auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

double SystemClock::monotonic_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void wait_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace base

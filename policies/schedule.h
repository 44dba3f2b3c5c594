// Five-field cron in an IANA time zone (library `date`).
//
// At a clock change forward, a time that does not exist fires at the first instant after the gap;
// at a change back, a time that exists twice fires once, the first time. A night that was missed
// (the daemon was down) is not made up for.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace policies {

class Schedule {
 public:
  // "30 22 * * 1-5", "*/15 * * * *"; names (mon, jan) and lists, ranges, steps. The error says
  // which field is wrong and what it may hold; an unknown zone names the nearest known ones.
  static base::Result<Schedule> parse(std::string_view cron, std::string_view time_zone);

  // The first fire strictly after `instant`; Instant{} (0) when there is none within five years.
  base::Instant next_after(base::Instant instant) const;

  struct Fields;

 private:
  std::shared_ptr<const Fields> fields_;
};

}  // namespace policies

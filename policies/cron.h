// The five fields of a cron line as sets.
#pragma once

#include <bitset>
#include <string_view>

#include "base/result.h"

namespace policies {

struct Cron {
  std::bitset<60> minutes;
  std::bitset<24> hours;
  std::bitset<32> days;     // of the month, 1 to 31
  std::bitset<13> months;   // 1 to 12
  std::bitset<7> weekdays;  // 0 = Sunday
  bool any_day = false;     // the field of days begins with '*'
  bool any_weekday = false;

  // Where both fields of days are restricted, either may match (as in Vixie's cron).
  bool matches_day(unsigned month, unsigned day, unsigned weekday) const;
};

// "30 22 * * mon-fri"; the error names the field, what it may hold and what was found.
base::Result<Cron> parse_cron(std::string_view text);

}  // namespace policies

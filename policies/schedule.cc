#include "policies/schedule.h"

#include <date/date.h>
#include <date/tz.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "policies/cron.h"

namespace policies {

struct Schedule::Fields {
  Cron cron;
  const date::time_zone* zone;  // owned by the library's database, which lives as long as we do
};

namespace {

using base::ErrorCode;
using base::fail;

// Levenshtein's distance, ignoring case.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(b[j - 1]));
      const std::size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// The three zones whose name, or whose city, is nearest to `name`.
std::string nearest_zones(std::string_view name) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const date::time_zone& zone : date::get_tzdb().zones) {
    const std::string_view known = zone.name();
    const std::string_view city = known.substr(known.rfind('/') + 1);
    ranked.emplace_back(std::min(distance(name, known), distance(name, city)), known);
  }
  std::sort(ranked.begin(), ranked.end());
  std::string list;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, ranked.size()); ++i) {
    list += (i == 0 ? "" : ", ") + ranked[i].second;
  }
  return list;
}

base::Result<const date::time_zone*> find_zone(std::string_view name) {
  try {
    date::get_tzdb();
  } catch (const std::exception& error) {
    return fail(
        ErrorCode::unavailable,
        fmt::format("the time zone database cannot be read ({}); install tzdata", error.what()));
  }
  try {
    return date::locate_zone(std::string(name));
  } catch (const std::exception&) {
    return fail(ErrorCode::bad_input,
                fmt::format("unknown time zone \"{}\"; expected an IANA name like Europe/Berlin or "
                            "UTC; nearest: {}",
                            name, nearest_zones(name)));
  }
}

// The instant of a local time: the first of two, and the end of the gap for one that does not
// exist.
date::sys_seconds instant_of(const date::time_zone& zone, date::local_seconds local) {
  const date::local_info found = zone.get_info(local);
  if (found.result == date::local_info::nonexistent) return found.first.end;
  return date::sys_seconds(local.time_since_epoch() - found.first.offset);
}

// The first fire on a local day strictly after `after`.
std::optional<date::sys_seconds> fire_on(const Cron& cron, const date::time_zone& zone,
                                         date::local_days day, date::sys_seconds after) {
  const date::year_month_day date(day);
  if (!cron.matches_day(static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                        date::weekday(day).c_encoding())) {
    return {};
  }
  for (std::size_t hour = 0; hour < cron.hours.size(); ++hour) {
    if (!cron.hours[hour]) continue;
    for (std::size_t minute = 0; minute < cron.minutes.size(); ++minute) {
      if (!cron.minutes[minute]) continue;
      const auto at =
          instant_of(zone, day + std::chrono::hours(hour) + std::chrono::minutes(minute));
      if (at > after) return at;
    }
  }
  return {};
}

}  // namespace

base::Result<Schedule> Schedule::parse(std::string_view cron, std::string_view time_zone) {
  NS_ASSIGN(parsed, parse_cron(cron));
  NS_ASSIGN(zone, find_zone(time_zone));
  Schedule schedule;
  schedule.fields_ = std::make_shared<const Fields>(Fields{parsed, zone});
  return schedule;
}

base::Instant Schedule::next_after(base::Instant instant) const {
  if (!fields_) return {};
  constexpr int kDays = 5 * 366;
  // Rounded down to the second: fires are on whole minutes, so "strictly after" is kept.
  const auto after = date::floor<std::chrono::seconds>(
      date::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(instant.ms)));
  // A day early, since the first instant after a gap may belong to the day before (zones have
  // skipped whole days).
  const auto first = date::floor<date::days>(fields_->zone->to_local(after)) - date::days(1);
  for (int i = 0; i < kDays; ++i) {
    if (const auto at = fire_on(fields_->cron, *fields_->zone, first + date::days(i), after)) {
      return {
          std::chrono::duration_cast<std::chrono::milliseconds>(at->time_since_epoch()).count()};
    }
  }
  return {};
}

}  // namespace policies

#include "policies/schedule.h"

#include <date/date.h>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace policies {
namespace {

// "2026-12-01 22:30:00.001"
base::Instant utc(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
  REQUIRE(std::sscanf(text.c_str(), "%d-%u-%u %u:%u:%lf", &year, &month, &day, &hour, &minute,
                      &second) == 6);
  const date::sys_days date = date::year{year} / month / day;
  const auto minutes = date + std::chrono::hours(hour) + std::chrono::minutes(minute);
  return {date::floor<std::chrono::milliseconds>(minutes.time_since_epoch()).count() +
          std::lround(second * 1000)};
}

std::string shown(base::Instant instant) {
  return date::format(
      "%F %H:%M", date::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(instant.ms)));
}

Schedule schedule(const std::string& cron, const std::string& zone) {
  auto parsed = Schedule::parse(cron, zone);
  if (!parsed) FAIL(parsed.error().text());
  return *parsed;
}

// The first `count` fires after an instant, in UTC.
std::vector<std::string> fires(const std::string& cron, const std::string& zone,
                               const std::string& after, int count) {
  const Schedule made = schedule(cron, zone);
  std::vector<std::string> list;
  base::Instant at = utc(after);
  for (int i = 0; i < count; ++i) {
    at = made.next_after(at);
    list.push_back(shown(at));
  }
  return list;
}

using Times = std::vector<std::string>;

TEST_CASE("fields: lists, ranges, steps, names") {
  const std::string start = "2026-12-01 00:00:00";  // a Tuesday
  CHECK(fires("30 22 * * *", "UTC", start, 2) == Times{"2026-12-01 22:30", "2026-12-02 22:30"});
  CHECK(fires("*/20 5 * * *", "UTC", start, 4) ==
        Times{"2026-12-01 05:00", "2026-12-01 05:20", "2026-12-01 05:40", "2026-12-02 05:00"});
  CHECK(fires("0 3 * * Sat,sun", "UTC", start, 2) == Times{"2026-12-05 03:00", "2026-12-06 03:00"});
  CHECK(fires("0 3 * * 7", "UTC", start, 1) == Times{"2026-12-06 03:00"});
  CHECK(fires("0 0 1 jan-mar/2 *", "UTC", start, 2) ==
        Times{"2027-01-01 00:00", "2027-03-01 00:00"});
  CHECK(fires("50/5 0 * * *", "UTC", start, 2) == Times{"2026-12-01 00:50", "2026-12-01 00:55"});
  CHECK(fires("0 0 29 2 *", "UTC", start, 1) == Times{"2028-02-29 00:00"});
  CHECK(fires("  0\t4 * *   *  ", "UTC", start, 1) == Times{"2026-12-01 04:00"});
}

TEST_CASE("with both days restricted either may match") {
  CHECK(fires("0 0 13 * fri", "UTC", "2026-12-01 00:00:00", 3) ==
        Times{"2026-12-04 00:00", "2026-12-11 00:00", "2026-12-13 00:00"});
}

TEST_CASE("the next fire is strictly after") {
  CHECK(fires("30 22 * * *", "UTC", "2026-12-01 22:30:00", 1) == Times{"2026-12-02 22:30"});
  CHECK(fires("30 22 * * *", "UTC", "2026-12-01 22:29:59.999", 1) == Times{"2026-12-01 22:30"});
  CHECK(fires("30 22 * * *", "UTC", "2026-12-01 22:30:00.001", 1) == Times{"2026-12-02 22:30"});
}

TEST_CASE("a day that never comes gives none") {
  CHECK(schedule("0 0 30 2 *", "UTC").next_after(utc("2026-12-01 00:00:00")) == base::Instant{});
  CHECK(Schedule().next_after(utc("2026-12-01 00:00:00")) == base::Instant{});
}

TEST_CASE("clock forward: a time that does not exist fires at the end of the gap, once") {
  // Berlin, 29 March 2026: 02:00 CET becomes 03:00 CEST, which is 01:00 UTC.
  CHECK(fires("30 2 * * *", "Europe/Berlin", "2026-03-28 00:00:00", 3) ==
        Times{"2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30"});
  CHECK(fires("*/15 * * * *", "Europe/Berlin", "2026-03-29 00:40:00", 3) ==
        Times{"2026-03-29 00:45", "2026-03-29 01:00", "2026-03-29 01:15"});
  // New York, 8 March 2026: 02:00 EST becomes 03:00 EDT, 07:00 UTC.
  CHECK(fires("15 2 * * *", "America/New_York", "2026-03-07 12:00:00", 2) ==
        Times{"2026-03-08 07:00", "2026-03-09 06:15"});
  // Lord Howe, 4 October 2026: 02:00 (+10:30) becomes 02:30 (+11), 15:30 UTC the day before.
  CHECK(fires("15 2 * * *", "Australia/Lord_Howe", "2026-10-02 20:00:00", 2) ==
        Times{"2026-10-03 15:30", "2026-10-04 15:15"});
}

TEST_CASE("clock back: a time that exists twice fires the first time only") {
  // Berlin, 25 October 2026: 03:00 CEST becomes 02:00 CET at 01:00 UTC.
  CHECK(fires("30 2 * * *", "Europe/Berlin", "2026-10-24 12:00:00", 2) ==
        Times{"2026-10-25 00:30", "2026-10-26 01:30"});
  CHECK(fires("*/30 * * * *", "Europe/Berlin", "2026-10-25 00:10:00", 2) ==
        Times{"2026-10-25 00:30", "2026-10-25 02:00"});
  // New York, 1 November 2026: 02:00 EDT becomes 01:00 EST at 06:00 UTC.
  CHECK(fires("30 1 * * *", "America/New_York", "2026-10-31 12:00:00", 2) ==
        Times{"2026-11-01 05:30", "2026-11-02 06:30"});
  // Lord Howe, 5 April 2026: 02:00 (+11) becomes 01:30 (+10:30), 15:00 UTC the day before.
  CHECK(fires("45 1 * * *", "Australia/Lord_Howe", "2026-04-03 20:00:00", 2) ==
        Times{"2026-04-04 14:45", "2026-04-05 15:15"});
}

TEST_CASE("zones off the hour and without changes") {
  CHECK(fires("0 22 * * *", "Asia/Kathmandu", "2026-12-01 00:00:00", 1) ==
        Times{"2026-12-01 16:15"});
  CHECK(fires("0 22 * * *", "UTC", "2026-03-28 23:00:00", 1) == Times{"2026-03-29 22:00"});
}

TEST_CASE("a nightly schedule fires exactly once on every local day of a year") {
  for (const char* zone :
       {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC", "Asia/Kathmandu"}) {
    for (const char* cron : {"0 0 * * *", "30 1 * * *", "45 1 * * *", "15 2 * * *", "30 2 * * *"}) {
      INFO(zone << " " << cron);
      const Schedule made = schedule(cron, zone);
      base::Instant at = made.next_after(utc("2026-01-01 12:00:00"));
      const base::Instant end = at.plus_s(365 * 86'400);
      int count = 0;
      for (base::Instant next = made.next_after(at); next < end; next = made.next_after(at)) {
        REQUIRE(next.seconds_since(at) > 22 * 3600);
        REQUIRE(next.seconds_since(at) < 26 * 3600);
        at = next;
        ++count;
      }
      CHECK(count == 364);
    }
  }
}

TEST_CASE("a wrong field is named, with what it may hold") {
  const auto error = [](const std::string& cron) {
    const auto parsed = Schedule::parse(cron, "UTC");
    return parsed ? "parsed" : parsed.error().message;
  };
  CHECK(error("60 * * * *").starts_with("cron field 1 (minute) has \"60\"; expected 0 to 59"));
  CHECK(error("0 24 * * *").starts_with("cron field 2 (hour) has \"24\""));
  CHECK(error("0 0 0 * *").starts_with("cron field 3 (day of the month) has \"0\""));
  CHECK(error("0 0 * foo *")
            .starts_with("cron field 4 (month) has \"foo\"; expected 1 to 12 or jan to dec"));
  CHECK(error("0 0 * * fri-mon").starts_with("cron field 5 (day of the week) has \"fri-mon\""));
  for (const char* wrong : {"5-1 * * * *", "*/0 * * * *", "*/-1 * * * *", ", * * * *", "1, * * * *",
                            "1- * * * *", "-1 * * * *", "1.5 * * * *", "*/x * * * *", "+1 * * * *",
                            "99999999999 * * * *", "1--2 * * * *", "** * * * *"}) {
    INFO(wrong);
    CHECK(error(wrong).starts_with("cron field 1 (minute)"));
  }
  for (const char* wrong : {"", "0 0 * *", "0 0 * * * *", "@daily"}) {
    INFO(wrong);
    CHECK(error(wrong).starts_with("expected five cron fields"));
  }
}

TEST_CASE("an unknown zone names the nearest known ones") {
  const auto unknown = Schedule::parse("0 0 * * *", "Europe/Berln");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.find("nearest: Europe/Berlin") != std::string::npos);
  const auto city = Schedule::parse("0 0 * * *", "kathmandu");
  REQUIRE_FALSE(city);
  CHECK(city.error().message.find("Asia/Kathmandu") != std::string::npos);
  CHECK_FALSE(Schedule::parse("0 0 * * *", ""));
}

}  // namespace
}  // namespace policies

#include "policies/cron.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace policies {
namespace {

using base::ErrorCode;
using base::fail;

struct Field {
  std::string_view name;
  int low, high;
  std::vector<std::string_view> names;  // of low, low + 1, ...
};

const std::array<Field, 5>& fields() {
  static const std::array<Field, 5> kFields = {
      Field{"minute", 0, 59, {}}, Field{"hour", 0, 23, {}}, Field{"day of the month", 1, 31, {}},
      Field{"month",
            1,
            12,
            {"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
      Field{"day of the week", 0, 7, {"sun", "mon", "tue", "wed", "thu", "fri", "sat"}}};
  return kFields;
}

std::vector<std::string_view> split(std::string_view text, char separator, bool keep_empty) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (keep_empty || end > 0) parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// A number or a name of the field, within its limits.
std::optional<int> value_of(const Field& field, std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    if (field.names[i] == lower) return field.low + static_cast<int>(i);
  }
  const auto value = whole_number(text);
  if (!value || *value < field.low || *value > field.high) return {};
  return value;
}

// One item of a list, "*", "7", "1-5", each with an optional step "/2", as values; nothing when
// wrong.
std::optional<std::vector<int>> values_of(const Field& field, std::string_view item) {
  const std::size_t slash = item.find('/');
  const std::string_view range = item.substr(0, slash);
  std::optional<int> step = 1;
  if (slash != std::string_view::npos) step = whole_number(item.substr(slash + 1));
  if (!step || *step < 1) return {};
  std::optional<int> from, to;
  if (range == "*") {
    from = field.low;
    to = field.high == 7 ? 6 : field.high;  // Sunday once
  } else if (const std::size_t dash = range.find('-'); dash != std::string_view::npos) {
    from = value_of(field, range.substr(0, dash));
    to = value_of(field, range.substr(dash + 1));
  } else {
    from = value_of(field, range);
    to = slash == std::string_view::npos ? from : field.high;  // "5/10" = from 5 on
  }
  if (!from || !to || *from > *to) return {};
  std::vector<int> values;
  for (int value = *from; value <= *to; value += *step) values.push_back(value);
  return values;
}

base::Result<std::vector<int>> parse_field(std::size_t index, std::string_view text) {
  const Field& field = fields()[index];
  std::vector<int> all;
  for (std::string_view item : split(text, ',', true)) {
    const auto values = values_of(field, item);
    if (!values) {
      return fail(
          ErrorCode::bad_input,
          fmt::format("cron field {} ({}) has \"{}\"; expected {} to {}{}, *, or ranges like "
                      "{}-{}, lists with commas, steps like */2",
                      index + 1, field.name, item, field.low, field.high,
                      field.names.empty()
                          ? ""
                          : fmt::format(" or {} to {}", field.names.front(), field.names.back()),
                      field.low, field.low + 2));
    }
    all.insert(all.end(), values->begin(), values->end());
  }
  return all;
}

}  // namespace

base::Result<Cron> parse_cron(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '\t', ' ');
  const std::vector<std::string_view> parts = split(spaced, ' ', false);
  if (parts.size() != fields().size()) {
    return fail(
        ErrorCode::bad_input,
        fmt::format("expected five cron fields (minute hour day-of-month month day-of-week), "
                    "found {} in \"{}\"; every night at 22:30 is \"30 22 * * *\"",
                    parts.size(), text));
  }
  Cron cron;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    NS_ASSIGN(values, parse_field(i, parts[i]));
    for (int value : values) {
      const auto bit = static_cast<std::size_t>(value);
      if (i == 0) cron.minutes.set(bit);
      if (i == 1) cron.hours.set(bit);
      if (i == 2) cron.days.set(bit);
      if (i == 3) cron.months.set(bit);
      if (i == 4) cron.weekdays.set(bit % 7);  // 7 is Sunday too
    }
  }
  cron.any_day = parts[2].starts_with('*');
  cron.any_weekday = parts[4].starts_with('*');
  return cron;
}

bool Cron::matches_day(unsigned month, unsigned day, unsigned weekday) const {
  if (!months[month]) return false;
  if (any_day || any_weekday) return days[day] && weekdays[weekday];
  return days[day] || weekdays[weekday];
}

}  // namespace policies

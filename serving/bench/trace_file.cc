#include "serving/bench/trace_file.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace serving::bench {
namespace {

struct Columns {
  std::size_t time = 0, input = 0, output = 0;
};

std::vector<std::string_view> cells(std::string_view line) {
  std::vector<std::string_view> list;
  while (true) {
    const std::size_t comma = std::min(line.find(','), line.size());
    list.push_back(line.substr(0, comma));
    if (comma == line.size()) return list;
    line.remove_prefix(comma + 1);
  }
}

std::optional<Columns> header(std::string_view line) {
  const auto names = cells(line);
  const auto find = [&](std::string_view first, std::string_view second) {
    return static_cast<std::size_t>(
        std::find_if(names.begin(), names.end(),
                     [&](std::string_view name) { return name == first || name == second; }) -
        names.begin());
  };
  const Columns columns{find("TIMESTAMP", "timestamp"), find("ContextTokens", "input_length"),
                        find("GeneratedTokens", "output_length")};
  if (std::max({columns.time, columns.input, columns.output}) >= names.size()) return std::nullopt;
  return columns;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Days since 1970 in the Gregorian calendar (H. Hinnant, "chrono-compatible low-level date
// algorithms").
std::int64_t days_from_civil(int year, int month, int day) {
  year -= month <= 2;
  const int era = year / 400;
  const int of_era = year - era * 400;
  const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return std::int64_t{era} * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// "2023-11-16 18:17:03.9799600" or plain seconds. A zone behind it is the same on all lines.
std::optional<double> time_s(std::string_view text) {
  if (const auto plain = number<double>(text)) return plain;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0;
  double second = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%d-%d-%d%*1[ T]%d:%d:%lf", &year, &month, &day, &hour, &minute,
                  &second) != 6) {
    return std::nullopt;
  }
  return static_cast<double>(days_from_civil(year, month, day) * 86400 + hour * 3600 +
                             minute * 60) +
         second;
}

std::optional<TraceEntry> entry_of_cells(std::string_view line, const Columns& columns) {
  const auto values = cells(line);
  if (std::max({columns.time, columns.input, columns.output}) >= values.size()) return std::nullopt;
  const auto at_s = time_s(values[columns.time]);
  const auto input = number<int>(values[columns.input]);
  const auto output = number<int>(values[columns.output]);
  if (!at_s || !input || !output) return std::nullopt;
  return TraceEntry{*at_s, *input, *output, {}};
}

std::optional<TraceEntry> entry_of_json(const std::string& line) {
  try {
    const auto object = nlohmann::json::parse(line);
    TraceEntry entry;
    entry.at_s = object.at("timestamp").get<double>() * 1e-3;
    entry.input_tokens = object.at("input_length").get<int>();
    entry.output_tokens = object.at("output_length").get<int>();
    entry.blocks = object.value("hash_ids", std::vector<std::int64_t>{});
    return entry;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

Result<std::vector<TraceEntry>> parse_trace(std::istream& in, std::size_t most) {
  std::vector<TraceEntry> entries;
  std::optional<Columns> columns;
  std::string line;
  for (int number = 1; entries.size() < most && std::getline(in, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const bool json = line.starts_with('{');
    if (!json && !columns) {
      columns = header(line);
      if (!columns) {
        return fail(ErrorCode::bad_input,
                    "line " + std::to_string(number) +
                        " of the trace is neither a JSON object nor a CSV header with timestamp, "
                        "input_length, output_length (or Azure's names)");
      }
      continue;
    }
    auto entry = json ? entry_of_json(line) : entry_of_cells(line, *columns);
    if (!entry || entry->input_tokens < 1 || entry->output_tokens < 1) {
      return fail(ErrorCode::bad_input, "line " + std::to_string(number) +
                                            " of the trace lacks a time, or lengths of at least 1");
    }
    entries.push_back(std::move(*entry));
  }
  if (entries.empty()) return fail(ErrorCode::bad_input, "the trace holds no request");
  std::stable_sort(entries.begin(), entries.end(),
                   [](const TraceEntry& a, const TraceEntry& b) { return a.at_s < b.at_s; });
  const double start_s = entries.front().at_s;
  for (TraceEntry& entry : entries) entry.at_s -= start_s;
  return entries;
}

Result<std::vector<TraceEntry>> read_trace(const std::string& path, std::size_t most) {
  std::ifstream file(path);
  if (!file) return fail(ErrorCode::not_found, "cannot read the trace " + path);
  return parse_trace(file, most);
}

}  // namespace serving::bench

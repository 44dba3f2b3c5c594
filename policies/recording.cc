#include "policies/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

namespace policies {
namespace {

constexpr std::string_view kTitle = "# nightshift noise recording 1";
constexpr std::string_view kColumns = "first,second";

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (!std::isfinite(value) || value <= 0) return {};
  return value;
}

std::optional<TwoRuns> parse_pair(std::string_view line) {
  const std::size_t comma = line.find(',');
  if (comma == std::string_view::npos) return {};
  const auto first = positive_number(line.substr(0, comma));
  const auto second = positive_number(line.substr(comma + 1));
  if (!first || !second) return {};
  return TwoRuns{*first, *second};
}

base::Status parse_line(std::string_view line, const std::string& where, Recording& recording) {
  if (line == kTitle || line == kColumns || line.empty()) return {};
  if (line.starts_with("# ")) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) {
      return base::fail(base::ErrorCode::bad_input, "expected \"# name: value\"", where);
    }
    recording.header[std::string(line.substr(2, colon - 2))] = std::string(line.substr(colon + 2));
    return {};
  }
  const auto pair = parse_pair(line);
  if (!pair) {
    return base::fail(base::ErrorCode::bad_input,
                      fmt::format("expected two positive numbers with a comma, found \"{}\"", line),
                      where);
  }
  recording.pairs.push_back(*pair);
  return {};
}

}  // namespace

base::Result<Recording> parse_recording(std::string_view text, const std::string& file) {
  if (!text.starts_with(kTitle)) {
    return base::fail(base::ErrorCode::bad_input,
                      fmt::format("expected \"{}\" as the first line", kTitle), file + ":1");
  }
  Recording recording;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    NS_TRY(parse_line(text.substr(0, end), fmt::format("{}:{}", file, line), recording));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  for (const char* name : {"machine", "date", "command", "unit"}) {
    if (!recording.header.contains(name)) {
      return base::fail(base::ErrorCode::bad_input, fmt::format("\"# {}: ...\" is missing", name),
                        file);
    }
  }
  if (recording.pairs.size() < 2) {
    return base::fail(base::ErrorCode::bad_input, "expected at least two pairs", file);
  }
  return recording;
}

std::string to_text(const Recording& recording) {
  std::string text = std::string(kTitle) + "\n";
  for (const auto& [name, value] : recording.header) text += fmt::format("# {}: {}\n", name, value);
  text += std::string(kColumns) + "\n";
  for (const TwoRuns& pair : recording.pairs)
    text += fmt::format("{},{}\n", pair.first, pair.second);
  return text;
}

Machine replay(Recording recording, int block) {
  struct Head {
    std::vector<TwoRuns> pairs;
    std::size_t at = 0;
    int left = 0;
  };
  auto head = std::make_shared<Head>();
  head->pairs = std::move(recording.pairs);
  return [head, block](base::Rng& rng) {
    if (head->left == 0) {
      head->at = rng.below(head->pairs.size());
      head->left = block;
    }
    --head->left;
    const TwoRuns pair = head->pairs[head->at];
    head->at = (head->at + 1) % head->pairs.size();
    return pair;
  };
}

}  // namespace policies

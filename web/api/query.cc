#include "web/api/query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace web {

std::string Query::text(const std::string& name) {
  asked_.push_back(name);
  const auto found = given_.find(name);
  return found == given_.end() ? "" : found->second;
}

int Query::limit(int otherwise) {
  const std::string given = text("limit");
  if (given.empty()) return otherwise;
  int limit = 0;
  auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), limit);
  if (error != std::errc() || end != given.data() + given.size() || limit < 1 || limit > 500) {
    mistakes_.push_back("limit: expected a number from 1 to 500");
    return otherwise;
  }
  return limit;
}

std::optional<hypotheses::Verdict> Query::verdict() {
  const std::string given = text("verdict");
  if (given.empty()) return {};
  const auto verdict = hypotheses::from_text<hypotheses::Verdict>(given);
  if (!verdict) {
    mistakes_.push_back("verdict: expected one of " + hypotheses::all_words<hypotheses::Verdict>());
  }
  return verdict;
}

base::Status Query::finish() {
  for (const auto& [name, value] : given_) {
    if (std::find(asked_.begin(), asked_.end(), name) == asked_.end()) {
      mistakes_.push_back(
          fmt::format("{}: not known here; expected one of {}", name, fmt::join(asked_, ", ")));
    }
  }
  if (mistakes_.empty()) return {};
  return base::fail(base::ErrorCode::bad_input, fmt::format("{}", fmt::join(mistakes_, "; ")));
}

}  // namespace web

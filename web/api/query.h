// The query of a list: "?verdict=refuted&before=H-12". A name that is not known is a mistake, so
// that a mistyped filter cannot pass for an empty one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace web {

class Query {
 public:
  explicit Query(const std::map<std::string, std::string>& given) : given_(given) {}

  std::string text(const std::string& name);
  template <class Id>
  Id id(const std::string& name);
  template <class Id>
  store::Page<Id> page(int otherwise = 50);
  std::optional<hypotheses::Verdict> verdict();

  base::Status finish();  // bad_input with all mistakes

 private:
  int limit(int otherwise);

  const std::map<std::string, std::string>& given_;
  std::vector<std::string> asked_;
  std::vector<std::string> mistakes_;
};

template <class Id>
Id Query::id(const std::string& name) {
  const std::string given = text(name);
  if (given.empty()) return {};
  const auto parsed = Id::parse(given);
  if (!parsed) mistakes_.push_back(name + ": expected an id such as " + Id{1}.text());
  return parsed.value_or(Id{});
}

template <class Id>
store::Page<Id> Query::page(int otherwise) {
  return {.before = id<Id>("before"), .limit = limit(otherwise)};
}

}  // namespace web

// Reads a JSON object strictly: every mistake is named, all together; a key that nobody asked for
// is a mistake.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace web {

class JsonBody {
 public:
  // `where` names the object in mistakes: "" for the body, "change.edits[0]" inside it.
  JsonBody(const nlohmann::json& object, std::string where, std::vector<std::string>& mistakes);
  JsonBody(const JsonBody&) = delete;
  JsonBody& operator=(const JsonBody&) = delete;
  ~JsonBody();  // reports the keys that nobody asked for

  // Empty, none, false where it is absent; then a mistake if it is required.
  std::string text(std::string_view key, bool required = false);
  std::optional<std::uint64_t> whole(std::string_view key);
  bool boolean(std::string_view key);
  const nlohmann::json* object(std::string_view key);
  const nlohmann::json* list(std::string_view key);
  const nlohmann::json* any(std::string_view key);

  void mistake(std::string_view key, std::string_view text);
  std::string name_of(std::string_view key) const;  // "change.knobs"

 private:
  const nlohmann::json* of_type(std::string_view key, bool (*is)(const nlohmann::json&),
                                std::string_view expected);

  const nlohmann::json& object_;
  std::string where_;
  std::vector<std::string>& mistakes_;
  std::set<std::string, std::less<>> asked_;
};

// The body as an object; an empty body is an empty object.
base::Result<nlohmann::json> parse_object(const std::string& body);

// bad_input with all of them, or nothing.
base::Status all_of(const std::vector<std::string>& mistakes);

}  // namespace web

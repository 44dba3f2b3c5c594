// Reads the fields of a JSON object one by one, with their types and ranges. The first mistake is
// kept and all later reads give their defaults, so that callers read first and ask once at the end.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "serving/api/api_error.h"

namespace serving {

using Json = nlohmann::ordered_json;  // a schema's properties come in the order of the body

// The object in `body`. Refused: no JSON, invalid UTF-8, not an object, nesting deeper than 64, an
// object of more than 512 fields.
ApiResult<Json> parse_object(std::string_view body);

class Fields {
 public:
  // `path` comes before the names in messages: "messages.0.". The object must outlive this.
  explicit Fields(const Json& object, std::string path = "");

  // Null counts as absent, as OpenAI's clients send it.
  const Json* find(const std::string& name);
  bool boolean(const std::string& name, bool otherwise);
  double number(const std::string& name, double otherwise, double least, double most);
  std::optional<std::int64_t> integer(const std::string& name, std::int64_t least,
                                      std::int64_t most);
  std::optional<std::string> string(const std::string& name);

  // A feature that is not there: only the value that does not ask for it is taken.
  void only(const std::string& name, std::initializer_list<Json> neutral);
  void ignore(std::initializer_list<const char*> names);  // taken and without effect here
  void fail(const std::string& name, const std::string& message);

  // The first mistake; else the first field that nobody asked for.
  std::optional<ApiError> error() const;

 private:
  const Json& object_;
  std::string path_;
  std::set<std::string> known_;
  std::optional<ApiError> error_;
};

}  // namespace serving

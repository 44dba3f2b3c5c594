// The parts of a schema that need no grammar: references, types, keywords, and whether two schemas
// exclude each other.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serving/core/result.h"

namespace serving {

using Json = nlohmann::ordered_json;

enum class Type { object, array, string, number, integer, boolean, null };

std::optional<Type> type_of_name(std::string_view name);
bool has_type(const Json& value, Type type);

// A member of an object; null, which holds nothing to iterate over, where there is none.
const Json& member(const Json& object, const char* name);

class SchemaReader {
 public:
  explicit SchemaReader(const Json& root) : root_(root) {}

  // What "#/$defs/x" points to. bad_input: not within the schema.
  Result<const Json*> resolve(const std::string& reference) const;

  // Why this schema cannot be compiled as it stands: keywords that are unknown or do not go
  // together, or have a value of a wrong type. `path` names it in the message.
  Status check(const Json& schema, const std::string& path) const;

  // The types an answer by this schema may have; all where it does not say.
  std::vector<Type> types(const Json& schema) const;

  // Whether no text that is made by one of them satisfies the other. False where it is not plain.
  bool exclude_each_other(const Json& a, const Json& b, int depth = 0) const;

 private:
  const Json& behind_references(const Json& schema) const;
  bool objects_exclude(const Json& a, const Json& b, int depth) const;

  const Json& root_;
};

}  // namespace serving

#include "serving/grammar/test_validator.h"

#include <nlohmann/json.hpp>
#include <set>

namespace serving {
namespace {

using nlohmann::json;

bool is_of(const std::string& type, const json& value) {
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == value.type_name();
}

std::size_t code_points(const std::string& text) {
  std::size_t count = 0;
  for (char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return count;
}

std::string broken_size(const json& schema, std::size_t size, const char* least, const char* most) {
  if (schema.contains(least) && size < schema[least].get<std::size_t>()) return least;
  if (schema.contains(most) && size > schema[most].get<std::size_t>()) return most;
  return {};
}

std::string broken_object(const json& schema, const json& value, const json& root) {
  for (const json& name : schema.value("required", json::array())) {
    if (!value.contains(name.get<std::string>())) return "required " + name.dump();
  }
  const json properties = schema.value("properties", json::object());
  for (const auto& [name, member] : value.items()) {
    const json rule = properties.contains(name) ? properties[name]
                                                : schema.value("additionalProperties", json(true));
    if (auto broken = broken_rule(rule, member, root); !broken.empty()) return name + ": " + broken;
  }
  return {};
}

std::size_t holding(const json& branches, const json& value, const json& root) {
  std::size_t count = 0;
  for (const json& branch : branches) count += broken_rule(branch, value, root).empty();
  return count;
}

std::string broken_combination(const json& schema, const json& value, const json& root) {
  if (schema.contains("$ref")) {
    const std::string pointer = schema["$ref"].get<std::string>().substr(1);
    if (auto broken = broken_rule(root.at(json::json_pointer(pointer)), value, root);
        !broken.empty())
      return broken;
  }
  if (schema.contains("anyOf") && holding(schema["anyOf"], value, root) == 0) return "anyOf";
  if (schema.contains("oneOf") && holding(schema["oneOf"], value, root) != 1) return "oneOf";
  if (schema.contains("allOf") && holding(schema["allOf"], value, root) != schema["allOf"].size()) {
    return "allOf";
  }
  if (schema.contains("const") && schema["const"] != value) return "const";
  if (schema.contains("enum")) {
    const auto& values = schema["enum"];
    if (std::find(values.begin(), values.end(), value) == values.end()) return "enum";
  }
  return {};
}

}  // namespace

std::string broken_rule(const json& schema, const json& value, const json& root) {
  if (schema.is_boolean()) return schema.get<bool>() ? "" : "false";
  if (auto broken = broken_combination(schema, value, root); !broken.empty()) return broken;
  if (schema.contains("type")) {
    const json types = schema["type"].is_array() ? schema["type"] : json::array({schema["type"]});
    bool any = false;
    for (const json& type : types) any = any || is_of(type, value);
    if (!any) return "type " + types.dump() + " of " + value.dump();
  }
  if (value.is_object()) return broken_object(schema, value, root);
  if (value.is_string()) {
    return broken_size(schema, code_points(value.get<std::string>()), "minLength", "maxLength");
  }
  if (!value.is_array()) return {};
  if (auto broken = broken_size(schema, value.size(), "minItems", "maxItems"); !broken.empty()) {
    return broken;
  }
  for (const json& item : value) {
    const auto broken = broken_rule(schema.value("items", json(true)), item, root);
    if (!broken.empty()) return "items: " + broken;
  }
  return {};
}

}  // namespace serving

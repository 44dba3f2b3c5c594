#include "serving/grammar/schema_reader.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

namespace serving {
namespace {

constexpr std::array<std::pair<std::string_view, Type>, 7> kTypes = {{{"object", Type::object},
                                                                      {"array", Type::array},
                                                                      {"string", Type::string},
                                                                      {"number", Type::number},
                                                                      {"integer", Type::integer},
                                                                      {"boolean", Type::boolean},
                                                                      {"null", Type::null}}};

constexpr std::size_t kComparisons = 100'000;  // of values; more are not worth a request's time

using Names = std::set<std::string_view>;

const Names& annotations() {
  static const Names kNames = {"title", "description", "default",      "examples", "$schema",
                               "$id",   "$comment",    "deprecated",   "readOnly", "writeOnly",
                               "$defs", "definitions", "discriminator"};
  return kNames;
}

// What may stand beside what decides the form of a schema. Empty set: nothing but annotations.
const Names& companions(std::string_view form) {
  static const Names kNone, kType = {"type"};
  static const Names kTyped = {"type",      "properties", "required", "additionalProperties",
                               "items",     "minItems",   "maxItems", "uniqueItems",
                               "minLength", "maxLength"};
  if (form == "enum" || form == "const") return kType;
  return form.empty() ? kTyped : kNone;
}

constexpr std::array<const char*, 6> kForms = {"$ref", "anyOf", "oneOf", "allOf", "enum", "const"};

std::string form_of(const Json& schema) {
  for (const char* form : kForms) {
    if (schema.contains(form)) return form;
  }
  return {};
}

bool is_known(const std::string& keyword) {
  return companions("").contains(keyword) ||
         std::find(kForms.begin(), kForms.end(), keyword) != kForms.end();
}

bool is_count(const Json& value) { return value.is_number_integer() && value >= 0; }

bool is_name_list(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& name) { return name.is_string(); });
}

bool well_typed(const std::string& keyword, const Json& value) {
  if (keyword == "properties") return value.is_object();
  if (keyword == "required") return is_name_list(value);
  if (keyword == "enum" || keyword == "anyOf" || keyword == "oneOf") {
    return value.is_array() && !value.empty();
  }
  if (keyword == "allOf") return value.is_array() && value.size() == 1;
  if (keyword == "$ref") return value.is_string();
  if (keyword == "uniqueItems") return value == false;
  if (keyword.starts_with("min") || keyword.starts_with("max")) {
    return is_count(value) && value <= 4096;
  }
  if (keyword == "items" || keyword == "additionalProperties") {
    return value.is_object() || value.is_boolean();
  }
  if (keyword != "type") return true;
  const Json names = value.is_array() ? value : Json::array({value});
  return !names.empty() && std::all_of(names.begin(), names.end(), [](const Json& name) {
    return name.is_string() && type_of_name(name.get_ref<const std::string&>());
  });
}

bool requires_property(const Json& schema, const std::string& name) {
  const auto required = schema.find("required");
  return required != schema.end() &&
         std::find(required->begin(), required->end(), Json(name)) != required->end();
}

bool declares(const Json& schema, const std::string& name) {
  return schema.contains("properties") && schema["properties"].contains(name);
}

// Whether an object made by `schema` may have this property.
bool may_have(const Json& schema, const std::string& name) {
  if (declares(schema, name) || requires_property(schema, name)) return true;
  const auto additional = schema.find("additionalProperties");
  if (additional != schema.end()) return *additional != false;
  return !schema.contains("properties");
}

bool takes_others(const Json& schema) {
  return !schema.contains("additionalProperties") || schema["additionalProperties"] != false;
}

// Whether each object made by `made` breaks `rule`: lacks what it requires, or has what it forbids.
bool always_breaks(const Json& made, const Json& rule) {
  for (const Json& name : member(rule, "required")) {
    if (!may_have(made, name.get<std::string>())) return true;
  }
  if (takes_others(rule)) return false;
  for (const Json& name : member(made, "required")) {
    if (!declares(rule, name.get<std::string>())) return true;
  }
  return false;
}

template <class List, class Matches>
bool none_of(const List& list, const Matches& matches) {
  return std::none_of(list.begin(), list.end(), matches);
}

bool is_numeric(Type type) { return type == Type::number || type == Type::integer; }

// 1.0 is an integer to JSON Schema, whatever its text.
bool may_have_type(const Json& value, Type type) {
  return value.is_number() ? is_numeric(type) : has_type(value, type);
}

// The values of const or enum.
std::optional<std::vector<Json>> values(const Json& schema) {
  if (!schema.is_object()) return std::nullopt;
  if (schema.contains("const")) return std::vector<Json>{schema["const"]};
  if (schema.contains("enum")) return schema["enum"].get<std::vector<Json>>();
  return std::nullopt;
}

bool has_plain_type(const Json& schema) {
  return schema.is_object() && schema.contains("type") && form_of(schema).empty();
}

}  // namespace

std::optional<Type> type_of_name(std::string_view name) {
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  return std::nullopt;
}

bool has_type(const Json& value, Type type) {
  switch (type) {
    case Type::object:
      return value.is_object();
    case Type::array:
      return value.is_array();
    case Type::string:
      return value.is_string();
    case Type::number:
      return value.is_number();
    case Type::integer:
      return value.is_number_integer();
    case Type::boolean:
      return value.is_boolean();
    case Type::null:
      return value.is_null();
  }
  return false;
}

const Json& member(const Json& object, const char* name) {
  static const Json kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

Result<const Json*> SchemaReader::resolve(const std::string& reference) const {
  try {
    if (reference.starts_with('#')) {
      return &root_.at(Json::json_pointer(reference.substr(1)));
    }
  } catch (const Json::exception&) {
    // Not a pointer, or to nothing.
  }
  return fail(ErrorCode::bad_input,
              "$ref \"" + reference + "\" points to nothing within the schema");
}

Status SchemaReader::check(const Json& schema, const std::string& path) const {
  if (schema.is_boolean()) return {};
  if (!schema.is_object()) {
    return fail(ErrorCode::bad_input, path + " of the schema must be an object, true or false");
  }
  const std::string form = form_of(schema);
  const Names& beside = companions(form);
  for (const auto& [keyword, value] : schema.items()) {
    if (annotations().contains(keyword)) continue;
    if (keyword != form && !beside.contains(keyword)) {
      return fail(ErrorCode::bad_input, "the keyword \"" + keyword + "\" at " + path +
                                            " of the schema is not supported" +
                                            (is_known(keyword) ? " beside \"" + form + "\"" : ""));
    }
    if (!well_typed(keyword, value)) {
      return fail(ErrorCode::bad_input, "the value of \"" + keyword + "\" at " + path +
                                            " of the schema is malformed or not supported");
    }
  }
  return {};
}

std::vector<Type> SchemaReader::types(const Json& schema) const {
  std::vector<Type> list;
  if (schema.is_object() && schema.contains("type")) {
    const Json& named = schema["type"];
    for (const Json& name : named.is_array() ? named : Json::array({named})) {
      list.push_back(*type_of_name(name.get_ref<const std::string&>()));
    }
    return list;
  }
  // A schema without a type that speaks of properties means objects, of items arrays.
  const auto speaks_of = [&](std::initializer_list<const char*> keywords) {
    return schema.is_object() &&
           std::any_of(keywords.begin(), keywords.end(),
                       [&](const char* keyword) { return schema.contains(keyword); });
  };
  if (speaks_of({"properties", "required", "additionalProperties"})) list.push_back(Type::object);
  if (speaks_of({"items", "minItems", "maxItems"})) list.push_back(Type::array);
  if (speaks_of({"minLength", "maxLength"})) list.push_back(Type::string);
  if (list.empty()) {
    for (const auto& [name, type] : kTypes) list.push_back(type);
  }
  return list;
}

const Json& SchemaReader::behind_references(const Json& schema) const {
  const Json* at = &schema;
  for (int i = 0; i < 16 && at->is_object() && at->contains("$ref"); ++i) {
    const auto target = resolve((*at)["$ref"].get<std::string>());
    if (!target) break;
    at = *target;
  }
  return *at;
}

bool SchemaReader::exclude_each_other(const Json& left, const Json& right, int depth) const {
  if (depth > 8) return false;
  const Json& a = behind_references(left);
  const Json& b = behind_references(right);
  const auto values_a = values(a), values_b = values(b);
  // Without a type a schema takes values of all, also where its keywords speak of one.
  if ((!values_a && !has_plain_type(a)) || (!values_b && !has_plain_type(b))) return false;
  if (values_a && values_b) {
    if (values_a->size() * values_b->size() > kComparisons) return false;
    return none_of(*values_a, [&](const Json& x) {
      return !none_of(*values_b, [&](const Json& y) { return x == y; });
    });
  }
  if (values_a || values_b) {
    const auto types_of_other = types(values_a ? b : a);
    return none_of(values_a ? *values_a : *values_b, [&](const Json& value) {
      return !none_of(types_of_other, [&](Type type) { return may_have_type(value, type); });
    });
  }
  const auto types_a = types(a), types_b = types(b);
  const bool apart = none_of(types_a, [&](Type x) {
    return !none_of(types_b, [&](Type y) { return x == y || (is_numeric(x) && is_numeric(y)); });
  });
  if (apart) return true;
  const std::vector<Type> only_object = {Type::object};
  return types_a == only_object && types_b == only_object && objects_exclude(a, b, depth);
}

bool SchemaReader::objects_exclude(const Json& a, const Json& b, int depth) const {
  if (always_breaks(a, b) && always_breaks(b, a)) return true;
  for (const auto& [name, schema] : member(a, "properties").items()) {
    const bool decisive =
        requires_property(a, name) && requires_property(b, name) && declares(b, name);
    if (decisive && exclude_each_other(schema, b["properties"][name], depth + 1)) return true;
  }
  return false;
}

}  // namespace serving

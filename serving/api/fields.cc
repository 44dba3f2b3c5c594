#include "serving/api/fields.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace serving {
namespace {

constexpr std::size_t kDepth = 64;
constexpr int kMembers = 512;

// Looked at before parsing: destroying and writing a tree are recursive, and an ordered object is
// filled in quadratic time. Empty when all is well.
std::string shape_mistake(std::string_view body) {
  std::vector<int> commas;  // of each array or object that is open
  bool in_string = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      commas.push_back(c == '{' ? 0 : std::numeric_limits<int>::min());
      if (commas.size() > kDepth) {
        return "the body is nested deeper than " + std::to_string(kDepth) + " levels";
      }
    } else if ((c == '}' || c == ']') && !commas.empty()) {
      commas.pop_back();
    } else if (c == ',' && !commas.empty() && ++commas.back() >= kMembers) {
      return "an object in the body has more than " + std::to_string(kMembers) + " fields";
    }
  }
  return {};
}

std::string shown(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

ApiResult<Json> parse_object(std::string_view body) {
  if (std::string mistake = shape_mistake(body); !mistake.empty()) {
    return refuse(400, std::move(mistake));
  }
  try {
    Json object = Json::parse(body);
    if (!object.is_object()) return refuse(400, "the body must be a JSON object");
    return object;
  } catch (const Json::exception& error) {  // parse_error, or out_of_range for 1e999
    const std::string what = Json(error.what()).dump(-1, ' ', true, Json::error_handler_t::replace);
    return refuse(400, "the body is not valid JSON: " + what);
  }
}

Fields::Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object.is_object()) {
    const std::string name = path_.substr(0, path_.size() - 1);
    error_ = ApiError{400, "'" + name + "' must be an object", name};
  }
}

const Json* Fields::find(const std::string& name) {
  known_.insert(name);
  if (error_) return nullptr;
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

bool Fields::boolean(const std::string& name, bool otherwise) {
  const Json* value = find(name);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) {
    fail(name, "must be true or false");
    return otherwise;
  }
  return value->get<bool>();
}

double Fields::number(const std::string& name, double otherwise, double least, double most) {
  const Json* value = find(name);
  if (value == nullptr) return otherwise;
  const double number = value->is_number() ? value->get<double>() : least - 1;
  if (!(number >= least && number <= most)) {
    fail(name, "must be a number from " + shown(least) + " to " + shown(most));
    return otherwise;
  }
  return number;
}

std::optional<std::int64_t> Fields::integer(const std::string& name, std::int64_t least,
                                            std::int64_t most) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const bool representable =
      value->is_number_integer() &&
      (!value->is_number_unsigned() || value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!representable || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most) {
    fail(name, "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

std::optional<std::string> Fields::string(const std::string& name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    fail(name, "must be a string");
    return std::nullopt;
  }
  return value->get<std::string>();
}

void Fields::only(const std::string& name, std::initializer_list<Json> neutral) {
  const Json* value = find(name);
  if (value == nullptr) return;
  for (const Json& allowed : neutral) {
    if (*value == allowed) return;
  }
  fail(name, "is not supported here (only " + neutral.begin()->dump() + " is taken)");
}

void Fields::ignore(std::initializer_list<const char*> names) {
  known_.insert(names.begin(), names.end());
}

void Fields::fail(const std::string& name, const std::string& message) {
  if (!error_) error_ = ApiError{400, "'" + path_ + name + "' " + message, path_ + name};
}

std::optional<ApiError> Fields::error() const {
  if (error_) return error_;
  for (const auto& [name, value] : object_.items()) {
    if (known_.contains(name)) continue;
    std::string shown_name = name.substr(0, 64);
    return ApiError{400, "unknown field '" + path_ + shown_name + "'", path_ + shown_name,
                    "unknown_field"};
  }
  return std::nullopt;
}

}  // namespace serving

#include "web/api/json_body.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace web {

using nlohmann::json;

JsonBody::JsonBody(const json& object, std::string where, std::vector<std::string>& mistakes)
    : object_(object), where_(std::move(where)), mistakes_(mistakes) {
  if (!object_.is_object()) {
    mistakes_.push_back(fmt::format("{}: expected an object, found {}",
                                    where_.empty() ? "the body" : where_, object_.type_name()));
  }
}

JsonBody::~JsonBody() {
  if (!object_.is_object()) return;
  for (const auto& [key, value] : object_.items()) {
    if (!asked_.contains(key)) {
      mistake(key, asked_.empty()
                       ? "unknown key; no keys are expected here"
                       : fmt::format("unknown key; expected one of {}", fmt::join(asked_, ", ")));
    }
  }
}

std::string JsonBody::name_of(std::string_view key) const {
  return where_.empty() ? std::string(key) : fmt::format("{}.{}", where_, key);
}

void JsonBody::mistake(std::string_view key, std::string_view text) {
  mistakes_.push_back(fmt::format("{}: {}", name_of(key), text));
}

const json* JsonBody::any(std::string_view key) {
  asked_.emplace(key);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

const json* JsonBody::of_type(std::string_view key, bool (*is)(const json&),
                              std::string_view expected) {
  const json* value = any(key);
  if (value == nullptr || is(*value)) return value;
  mistake(key, fmt::format("expected {}, found {}", expected, value->type_name()));
  return nullptr;
}

std::string JsonBody::text(std::string_view key, bool required) {
  const std::size_t before = mistakes_.size();
  const json* value = of_type(
      key, [](const json& j) { return j.is_string(); }, "text");
  std::string text = value == nullptr ? "" : value->get<std::string>();
  if (required && text.empty() && mistakes_.size() == before) mistake(key, "missing");
  return text;
}

// Also as text, the way the API itself shows numbers that JavaScript would round.
std::optional<std::uint64_t> JsonBody::whole(std::string_view key) {
  const json* value = any(key);
  if (value == nullptr) return {};
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    std::uint64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
  }
  mistake(key, fmt::format("expected a whole number, 0 or more, found {}", value->type_name()));
  return {};
}

bool JsonBody::boolean(std::string_view key) {
  const json* value = of_type(
      key, [](const json& j) { return j.is_boolean(); }, "true or false");
  return value != nullptr && value->get<bool>();
}

const json* JsonBody::object(std::string_view key) {
  return of_type(
      key, [](const json& j) { return j.is_object(); }, "an object");
}

const json* JsonBody::list(std::string_view key) {
  return of_type(
      key, [](const json& j) { return j.is_array(); }, "a list");
}

base::Result<json> parse_object(const std::string& body) {
  if (body.find_first_not_of(" \t\r\n") == std::string::npos) return json::object();
  json parsed = json::parse(body, nullptr, false);
  if (parsed.is_discarded()) {
    return base::fail(base::ErrorCode::bad_input, "the body is no valid JSON");
  }
  return parsed;
}

base::Status all_of(const std::vector<std::string>& mistakes) {
  if (mistakes.empty()) return {};
  return base::fail(base::ErrorCode::bad_input, fmt::format("{}", fmt::join(mistakes, "; ")));
}

}  // namespace web

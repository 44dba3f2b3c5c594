// Argument vectors: how a manifest writes them, and how {placeholders} become values.
#include "hypotheses/arguments.h"

#include <algorithm>
#include <optional>

#include "hypotheses/manifest.h"
#include "hypotheses/nearest.h"

namespace hypotheses {
namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

// Cuts `argument` into literal text and names of placeholders, in order.
template <class OnText, class OnName>
void scan_placeholders(std::string_view argument, OnText on_text, OnName on_name) {
  std::size_t literal = 0;
  for (std::size_t i = 0; i < argument.size(); ++i) {
    if (argument[i] != '{' || i + 1 >= argument.size() || !starts_name(argument[i + 1])) continue;
    std::size_t end = i + 1;
    while (end < argument.size() && continues_name(argument[end])) ++end;
    if (end == argument.size() || argument[end] != '}') continue;
    on_text(argument.substr(literal, i - literal));
    on_name(argument.substr(i + 1, end - i - 1));
    literal = end + 1;
    i = end;
  }
  on_text(argument.substr(literal));
}

}  // namespace

std::vector<std::string> placeholders(const std::vector<std::string>& argv) {
  std::vector<std::string> names;
  for (const std::string& argument : argv) {
    scan_placeholders(
        argument, [](std::string_view) {},
        [&](std::string_view name) {
          if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
        });
  }
  return names;
}

base::Result<std::vector<std::string>> substitute(
    const std::vector<std::string>& argv, const std::map<std::string, std::string>& values) {
  std::vector<std::string> result;
  std::optional<std::string> unknown;
  for (const std::string& argument : argv) {
    std::string& out = result.emplace_back();
    scan_placeholders(
        argument, [&](std::string_view text) { out += text; },
        [&](std::string_view name) {
          const auto value = values.find(std::string(name));
          if (value != values.end()) {
            out += value->second;
          } else if (!unknown) {
            unknown = name;
          }
        });
  }
  if (!unknown) return result;
  std::vector<std::string_view> known;
  for (const auto& [name, value] : values) known.push_back(name);
  return base::fail(base::ErrorCode::bad_input, "no value for the placeholder {" + *unknown + "}" +
                                                    did_you_mean(*unknown, known));
}

base::Result<std::vector<std::string>> split_arguments(std::string_view text) {
  std::vector<std::string> arguments;
  bool open = false;  // an argument has begun, perhaps an empty quoted one
  char quote = 0;
  const auto put = [&](char c) {
    if (!open) arguments.emplace_back();
    open = true;
    arguments.back() += c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (c == '\\' && quote != '\'') {
      if (i + 1 == text.size())
        return base::fail(base::ErrorCode::bad_input, "a '\\' at the end escapes nothing");
      // Inside double quotes only " and \ need it; before others it stands for itself.
      const char next = text[i + 1];
      if (quote == '"' && next != '"' && next != '\\') {
        put(c);
        continue;
      }
      put(next);
      ++i;
    } else if (quote != 0 ? c == quote : (c == '"' || c == '\'')) {
      if (!open) arguments.emplace_back();
      open = true;
      quote = quote != 0 ? 0 : c;
    } else if (quote == 0 && space) {
      open = false;
    } else {
      put(c);
    }
  }
  if (quote != 0)
    return base::fail(base::ErrorCode::bad_input, std::string("a ") + quote + " that never ends");
  return arguments;
}

}  // namespace hypotheses

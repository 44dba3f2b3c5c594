// Strong ids: a hypothesis id cannot be passed where an experiment id is meant.
#pragma once

#include <charconv>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace base {

// Tag has `static constexpr std::string_view prefix`, for example "H"; the text form is "H-12".
// Value 0 means "none"; real ids start at 1.
template <class Tag>
struct Id {
  std::int64_t value = 0;

  explicit operator bool() const { return value != 0; }
  auto operator<=>(const Id&) const = default;

  std::string text() const { return std::string(Tag::prefix) + "-" + std::to_string(value); }

  // "H-12" or "12"; nothing else.
  static std::optional<Id> parse(std::string_view text) {
    if (text.starts_with(Tag::prefix) && text.size() > Tag::prefix.size() &&
        text[Tag::prefix.size()] == '-') {
      text.remove_prefix(Tag::prefix.size() + 1);
    }
    Id id;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id.value);
    if (error != std::errc() || end != text.data() + text.size() || id.value <= 0) return {};
    return id;
  }
};

}  // namespace base

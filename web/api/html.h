// Markup that cannot be injected into: only literals of this program and Html are taken as they
// are; every other argument is escaped.
//
//   html("<td>{}</td>", claim)   // claim "<b>" becomes "&lt;b&gt;"
//
// The number of "{}" is checked against the arguments when the program is compiled.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace web {

class Html {
 public:
  Html() = default;

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  Html& operator+=(const Html& more) {
    text_ += more.text_;
    return *this;
  }
  friend Html operator+(Html left, const Html& right) { return left += right; }

  // Only for text that this program made itself and that holds no foreign part.
  static Html trusted(std::string text) {
    Html html;
    html.text_ = std::move(text);
    return html;
  }

 private:
  std::string text_;
};

// For element content and for quoted attributes.
Html escape(std::string_view text);

inline Html to_html(const Html& html) { return html; }
inline Html to_html(std::string_view text) { return escape(text); }
inline Html to_html(const std::string& text) { return escape(text); }
inline Html to_html(const char* text) { return escape(text); }
Html to_html(double number);  // shortest form that reads well: 12.5
template <std::integral T>
Html to_html(T number) {
  return Html::trusted(std::to_string(number));
}

template <class... Args>
struct HtmlPattern {
  std::string_view text;
  consteval HtmlPattern(const char* pattern) : text(pattern) {  // NOLINT: implicit on purpose
    std::size_t holes = 0;
    for (std::size_t i = 0; i + 1 < text.size(); ++i) holes += text[i] == '{' && text[i + 1] == '}';
    if (holes != sizeof...(Args)) throw "the number of {} differs from the number of arguments";
  }
};

Html fill(std::string_view pattern, const Html* arguments);

template <class... Args>
Html html(HtmlPattern<std::type_identity_t<Args>...> pattern, const Args&... args) {
  const std::array<Html, sizeof...(Args) + 1> filled{to_html(args)..., Html()};
  return fill(pattern.text, filled.data());
}

template <class Items, class Render>
Html each(const Items& items, Render render) {
  Html all;
  for (const auto& item : items) all += render(item);
  return all;
}

}  // namespace web

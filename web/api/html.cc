#include "web/api/html.h"

#include <fmt/format.h>

#include <cmath>

namespace web {

Html escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size() + text.size() / 8);
  for (char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      case '\0':
        safe += "\xEF\xBF\xBD";
        break;  // U+FFFD, as a browser would read it
      default:
        safe += c;
    }
  }
  return Html::trusted(std::move(safe));
}

Html to_html(double number) {
  if (!std::isfinite(number)) return Html::trusted("–");
  return Html::trusted(fmt::format("{:.4g}", number));
}

Html fill(std::string_view pattern, const Html* arguments) {
  std::string text;
  text.reserve(pattern.size() * 2);
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t hole = pattern.find("{}", at);
    text += pattern.substr(at, hole - at);
    if (hole == std::string_view::npos) break;
    text += (arguments++)->text();
    at = hole + 2;
  }
  return Html::trusted(std::move(text));
}

}  // namespace web

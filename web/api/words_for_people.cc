// Times, durations and numbers the way a person reads them.
#include <fmt/format.h>

#include <cmath>

#include "web/api/views.h"

namespace web {

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "–";
  if (seconds < 0.0005 && seconds > 0) return "under 1 ms";
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) {
    return whole % 60 == 0 ? fmt::format("{} min", whole / 60)
                           : fmt::format("{} min {:02} s", whole / 60, whole % 60);
  }
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string time_text(base::Instant instant) {
  if (instant.ms == 0) return "";
  std::string text = base::to_text(instant);  // 2026-12-01T03:04:05.678Z
  text[10] = ' ';
  return text.substr(0, 16) + " UTC";
}

std::string number_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "–";
  // Four figures are more than the noise leaves; whole numbers from 1000 on get their commas.
  std::string text = std::abs(value) >= 1000 && std::abs(value) < 1e15
                         ? fmt::format("{:.0f}", value)
                         : fmt::format("{:.4g}", value);
  if (std::abs(value) >= 1000 && std::abs(value) < 1e15) {
    for (int at = static_cast<int>(text.size()) - 3; at > (text[0] == '-' ? 1 : 0); at -= 3) {
      text.insert(static_cast<std::size_t>(at), ",");
    }
  }
  if (!unit.empty() && unit != "1") text += fmt::format(" {}", unit);
  return text;
}

}  // namespace web

#include "serving/api/stop_filter.h"

#include <algorithm>
#include <utility>

namespace serving {
namespace {

// How many bytes at the end of `text` begin `stop`.
std::size_t begun(std::string_view text, std::string_view stop) {
  for (std::size_t size = std::min(text.size(), stop.size() - 1); size > 0; --size) {
    if (text.ends_with(stop.substr(0, size))) return size;
  }
  return 0;
}

}  // namespace

std::string StopFilter::add(std::string_view text) {
  if (stopped_) return {};
  kept_ += text;
  std::size_t shown = kept_.size();
  for (const std::string& stop : stops_) {
    if (const auto at = kept_.find(stop); at != std::string::npos) {
      stopped_ = true;
      shown = std::min(shown, at);
    }
  }
  if (!stopped_) {
    std::size_t held = 0;
    for (const std::string& stop : stops_) held = std::max(held, begun(kept_, stop));
    shown -= held;
  }
  std::string out = kept_.substr(0, shown);
  kept_.erase(0, shown);
  return out;
}

std::string StopFilter::finish() {
  if (stopped_) return {};
  return std::exchange(kept_, {});
}

}  // namespace serving

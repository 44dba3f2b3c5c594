#include "serving/probe/spans.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace serving::probe {

namespace {

struct Span {
  std::string name;
  double begin_us = 0, end_us = 0;
};

// Spans of one lane nest or follow each other, as the scopes that made them.
void add_lane(std::vector<Span> spans, std::map<std::string, double>& own_ms) {
  std::ranges::sort(spans, [](const Span& a, const Span& b) {
    return a.begin_us != b.begin_us ? a.begin_us < b.begin_us : a.end_us > b.end_us;
  });
  std::vector<const Span*> open;
  for (const Span& span : spans) {
    while (!open.empty() && open.back()->end_us <= span.begin_us) open.pop_back();
    const double ms = (span.end_us - span.begin_us) / 1e3;
    own_ms[span.name] += ms;
    if (!open.empty()) own_ms[open.back()->name] -= ms;
    open.push_back(&span);
  }
}

}  // namespace

Result<std::map<std::string, double>> own_time_ms(const std::string& trace) {
  std::map<int, std::vector<Span>> lanes;
  try {
    const auto document = nlohmann::json::parse(trace);
    for (const auto& event : document.at("traceEvents")) {
      if (event.at("ph") != "X") continue;
      const double begin_us = event.at("ts");
      lanes[event.at("tid")].push_back(
          {event.at("name"), begin_us, begin_us + event.at("dur").get<double>()});
    }
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::bad_input, std::string("expected Chrome trace events: ") + error.what());
  }
  std::map<std::string, double> own_ms;
  for (auto& [lane, spans] : lanes) add_lane(std::move(spans), own_ms);
  return own_ms;
}

}  // namespace serving::probe

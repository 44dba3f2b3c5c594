#include "runners/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>

#include "runners/adapter_parts.h"

namespace runners {
using base::ErrorCode;
using nlohmann::json;
namespace {

constexpr std::size_t kLongestName_bytes = 1000;
constexpr double kLongest_us = 1e18;  // 30,000 years: no sum of two such overflows

// Names to small numbers.
class Interned {
 public:
  std::uint32_t operator()(const std::string& name) {
    auto [place, added] = numbers_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return place->second;
  }
  std::size_t size() const { return names_.size(); }
  const std::string& at(std::uint32_t number) const { return names_[number]; }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

// One key of an event: what stands there, as a number or as a text.
struct Field {
  std::optional<double> number;
  std::string text;  // of anything else what it is
  bool is_text = false;
  bool present = false;
};

struct Event {
  Field ph, name, pid, tid, ts, dur;

  Field* at(std::string_view key) {
    if (key == "ph") return &ph;
    if (key == "name") return &name;
    if (key == "pid") return &pid;
    if (key == "tid") return &tid;
    if (key == "ts") return &ts;
    if (key == "dur") return &dur;
    return nullptr;
  }
};

// The beginning or the end of a span that comes as two events.
struct Mark {
  double at_us;
  std::optional<std::uint32_t> name;  // an end may leave it out
  std::uint32_t lane;
  std::size_t event;  // its place in the list
  bool begins;
};

struct Span {
  Trace::Span span;
  std::size_t event;
};

// Collects spans from one event after another; remembers the first thing that is wrong.
class Spans {
 public:
  explicit Spans(const TraceLimits& limits) : limits_(limits) {}

  base::Status add(Event& event);
  base::Result<Trace> finish();

 private:
  template <class... Args>
  static tl::unexpected<base::Error> wrong(fmt::format_string<Args...> text, Args&&... args) {
    return base::fail(ErrorCode::bad_input, fmt::format(text, std::forward<Args>(args)...));
  }
  base::Result<double> number(const Field& field, const char* key, const Event& event) const;
  base::Status keep(double begin_us, double end_us, std::uint32_t name, std::uint32_t lane,
                    std::size_t event);
  base::Status pair_marks();

  const TraceLimits& limits_;
  Interned names_, lanes_;
  std::vector<Span> spans_;
  std::vector<Mark> marks_;
  std::size_t events_ = 0;
};

std::string shown_field(const Field& field) {
  if (!field.present) return "none";
  if (field.is_text) return "'" + clean_text(field.text, 60) + "'";
  return field.number ? fmt::format("{}", *field.number) : field.text;
}

base::Result<double> Spans::number(const Field& field, const char* key, const Event& event) const {
  if (field.number && std::fabs(*field.number) <= kLongest_us) return *field.number;
  return wrong("event {} ({}, phase {}): expected a number of microseconds under \"{}\"; found {}",
               events_, shown_field(event.name), event.ph.text, key, shown_field(field));
}

base::Status Spans::keep(double begin_us, double end_us, std::uint32_t name, std::uint32_t lane,
                         std::size_t event) {
  if (end_us == begin_us) return {};
  if (spans_.size() >= limits_.spans)
    return wrong("expected at most {} spans; trace a shorter run", limits_.spans);
  spans_.push_back({{begin_us, end_us, name, lane}, event});
  return {};
}

base::Status Spans::add(Event& event) {
  const std::string& phase = event.ph.text;
  if (!event.ph.is_text || phase.empty())
    return wrong("event {}: expected its phase as a letter under \"ph\"; found {}", events_,
                 shown_field(event.ph));
  if (phase == "X" || phase == "B" || phase == "E") {
    if (phase != "E" && (!event.name.is_text || event.name.text.empty()))
      return wrong("event {} (phase {}): expected a text under \"name\"; found {}", events_, phase,
                   shown_field(event.name));
    NS_ASSIGN(ts, number(event.ts, "ts", event));
    const auto id_text = [](const Field& id) {
      return id.number ? fmt::format("{}", *id.number) : id.is_text ? id.text : std::string("?");
    };
    const std::uint32_t lane = lanes_(id_text(event.pid) + "/" + id_text(event.tid));
    std::optional<std::uint32_t> name;
    if (event.name.is_text) name = names_(event.name.text.substr(0, kLongestName_bytes));
    if (phase == "X") {
      NS_ASSIGN(dur, number(event.dur, "dur", event));
      if (dur < 0)
        return wrong("event {} ({}): expected a duration of 0 or more; found {}", events_,
                     shown_field(event.name), dur);
      NS_TRY(keep(ts, ts + dur, *name, lane, events_));
    } else {
      marks_.push_back({ts, name, lane, events_, phase == "B"});
    }
    if (names_.size() > limits_.names)
      return wrong(
          "expected at most {} different names of spans; leave out of the names what "
          "differs each time",
          limits_.names);
    if (lanes_.size() > limits_.lanes)
      return wrong("expected at most {} lanes (pid and tid)", limits_.lanes);
    if (marks_.size() > 2 * limits_.spans)
      return wrong("expected at most {} spans; trace a shorter run", limits_.spans);
  }
  ++events_;
  return {};
}

// An E closes the innermost open B of its lane.
base::Status Spans::pair_marks() {
  std::stable_sort(marks_.begin(), marks_.end(),
                   [](const Mark& a, const Mark& b) { return a.at_us < b.at_us; });
  std::vector<std::vector<const Mark*>> open(lanes_.size());
  for (const Mark& mark : marks_) {
    auto& lane = open[mark.lane];
    if (mark.begins) {
      lane.push_back(&mark);
      continue;
    }
    const std::string name = mark.name ? clean_text(names_.at(*mark.name), 100) : "a span";
    if (lane.empty())
      return wrong("event {}: the end of {} at {} us in lane {} has no beginning (B) before it",
                   mark.event, name, mark.at_us, clean_text(lanes_.at(mark.lane), 60));
    const Mark& begin = *lane.back();
    if (mark.name && mark.name != begin.name)
      return wrong("event {}: expected the end of {}, begun at {} us in lane {}; found that of {}",
                   mark.event, clean_text(names_.at(*begin.name), 100), begin.at_us,
                   clean_text(lanes_.at(mark.lane), 60), name);
    NS_TRY(keep(begin.at_us, mark.at_us, *begin.name, mark.lane, begin.event));
    lane.pop_back();
  }
  for (const auto& lane : open) {
    if (lane.empty()) continue;
    const Mark& begin = *lane.back();
    return wrong(
        "event {}: {}, begun at {} us in lane {}, never ends (E); did the program end "
        "before it closed its spans?",
        begin.event, clean_text(names_.at(*begin.name), 100), begin.at_us,
        clean_text(lanes_.at(begin.lane), 60));
  }
  return {};
}

base::Result<Trace> Spans::finish() {
  NS_TRY(pair_marks());
  std::sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
    if (a.span.begin_us != b.span.begin_us) return a.span.begin_us < b.span.begin_us;
    if (a.span.end_us != b.span.end_us) return a.span.end_us > b.span.end_us;
    return a.event < b.event;
  });
  Trace trace;
  trace.spans.reserve(spans_.size());
  for (const Span& span : spans_) trace.spans.push_back(span.span);
  trace.names = names_.take();
  trace.lanes = lanes_.take();
  return trace;
}

// Takes the parser's events, so that no tree of the whole document is ever built. The names are
// those of nlohmann's SAX interface.
class TraceParser {
 public:
  TraceParser(Spans& spans, std::size_t size_bytes) : spans_(spans), size_bytes_(size_bytes) {}

  std::string error;
  bool found_events = false;

  bool null() { return value({{}, "null", false, true}); }
  bool boolean(bool it) { return value({{}, it ? "true" : "false", false, true}); }
  bool number_integer(std::int64_t it) { return number(static_cast<double>(it)); }
  bool number_unsigned(std::uint64_t it) { return number(static_cast<double>(it)); }
  bool number_float(double it, const std::string&) { return number(it); }
  bool string(std::string& it) { return value({{}, it, true, true}); }
  bool binary(json::binary_t&) { return true; }
  bool key(std::string& it) {
    if (in_event() || depth_ == 1) key_ = it;
    return true;
  }
  bool start_object(std::size_t) {
    if (in_events()) event_ = Event();
    if (in_event() && !value({{}, "an object", false, true})) return false;
    ++depth_;
    if (depth_ == 1) bare_ = false;
    return true;
  }
  bool end_object() {
    --depth_;
    return !in_events() || take_event();
  }
  bool start_array(std::size_t) {
    if (in_events()) return no_event("a list");
    if (in_event() && !value({{}, "a list", false, true})) return false;
    ++depth_;
    bool events = depth_ == 1 || (depth_ == 2 && !bare_ && key_ == "traceEvents");
    if (!events) return true;
    if (depth_ == 1) bare_ = true;
    if (found_events) return fail("\"traceEvents\" stands twice");
    found_events = events_open_ = true;
    return true;
  }
  bool end_array() {
    --depth_;
    if (events_open_ && depth_ == (bare_ ? 0 : 1)) events_open_ = false;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const json::exception& exception) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    std::string message = exception.what();
    const auto start = message.find("] ");
    if (start != std::string::npos) message = message.substr(start + 2);
    const bool breaks_off = position > size_bytes_;
    return fail(breaks_off
                    ? fmt::format("the JSON breaks off after {} bytes; was the program ended "
                                  "while it wrote, or its output cut?",
                                  size_bytes_)
                    : "expected JSON; " + clean_text(message, 200));
  }

 private:
  bool in_events() const { return events_open_ && depth_ == (bare_ ? 1 : 2); }
  bool in_event() const { return events_open_ && depth_ == (bare_ ? 2 : 3); }

  bool fail(std::string message) {
    if (error.empty()) error = std::move(message);
    return false;
  }
  bool no_event(const std::string& found) {
    return fail("expected each event to be an object; found " + found);
  }
  bool number(double it) { return value({it, "", false, true}); }
  bool value(Field field) {
    if (depth_ == 0) return true;  // no trace at all; told at the end
    if (in_events()) return no_event(shown_field(field));
    if (!in_event()) return true;
    Field* place = event_.at(key_);
    if (place == nullptr) return true;
    if (place->present) return fail("the key \"" + key_ + "\" stands twice in an event");
    *place = std::move(field);
    return true;
  }
  bool take_event() {
    auto added = spans_.add(event_);
    return added || fail(added.error().message);
  }

  Spans& spans_;
  std::size_t size_bytes_;
  Event event_;
  std::string key_;
  int depth_ = 0;
  bool bare_ = false;         // the document is the list of events
  bool events_open_ = false;  // inside of that list
};

}  // namespace

base::Result<Trace> read_trace(std::string_view text, const TraceLimits& limits) {
  Spans spans(limits);
  TraceParser parser(spans, text.size());
  bool parsed = json::sax_parse(text.begin(), text.end(), &parser);
  if (parsed && !parser.found_events)
    parser.error = "expected an object with a list \"traceEvents\", or the list itself";
  if (!parser.error.empty()) return base::fail(ErrorCode::bad_input, parser.error);
  return spans.finish();
}

}  // namespace runners

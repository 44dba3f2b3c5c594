#include "web/api/event_feed.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "hypotheses/json.h"

namespace web {

namespace {

using std::chrono::steady_clock;
// How soon a client that went away is noticed while nothing happens.
constexpr std::chrono::milliseconds kLook{1000};
constexpr std::chrono::seconds kHeartbeat{15};
constexpr int kBatch = 200;

std::optional<std::int64_t> parse_place(const std::string& text) {
  std::int64_t place = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), place);
  if (error != std::errc() || end != text.data() + text.size() || place < 0) return {};
  return place;
}

std::string message_of(const store::Event& event) {
  const std::string_view kind = hypotheses::kind_of(event.fact);
  const nlohmann::json data = {{"seq", event.seq},
                               {"at", event.at.ms},
                               {"kind", kind},
                               {"fact", hypotheses::to_json(event.fact)}};
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.seq, kind, hypotheses::dump(data));
}

}  // namespace

struct EventFeed::Viewer {
  std::int64_t place = 0;  // the last sequence number that was sent
  bool greeted = false;
  bool lost_place = false;  // asked for a place that this store has not reached
  bool behind = true;       // the store may hold more than was sent
  steady_clock::time_point next_heartbeat;
};

Response EventFeed::open(const Request& request) {
  std::string asked = request.header("last-event-id");
  if (auto after = request.query.find("after"); asked.empty() && after != request.query.end()) {
    asked = after->second;
  }
  const auto place = parse_place(asked);
  if (!asked.empty() && !place) {
    return error_response(400, "bad-input", "Last-Event-ID and after take an event's number");
  }
  auto last = last_stored();
  if (!last) return error_response(last.error());
  {
    std::lock_guard lock(mutex_);
    if (viewers_ >= max_viewers_) {
      return error_response(503, "unavailable",
                            fmt::format("{} live viewers are connected already; close a tab or "
                                        "raise the limit",
                                        viewers_))
          .with("Retry-After", "10");
    }
    ++viewers_;
  }
  auto viewer = std::make_shared<Viewer>();
  viewer->place = place.value_or(*last);
  viewer->lost_place = viewer->place > *last;
  if (viewer->lost_place) viewer->place = *last;
  Response response;
  response.type = "text/event-stream";
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  response.stream = [this, viewer](Sink& sink) { return step(*viewer, sink); };
  response.stream_ended = [this] {
    std::lock_guard lock(mutex_);
    --viewers_;
  };
  return response;
}

// One round of a stream: greet, send what is new, else wait and see whether the client is there.
bool EventFeed::step(Viewer& viewer, Sink& sink) {
  if (!viewer.greeted) {
    viewer.greeted = true;
    viewer.next_heartbeat = steady_clock::now() + kHeartbeat;
    // A client with the memory of another store has to load its page anew.
    const std::string_view reset = viewer.lost_place ? "event: reset\ndata: {}\n\n" : "";
    if (!sink.write(fmt::format("retry: 2000\n: nightshift events\n\n{}", reset))) return false;
  }
  if (viewer.behind) return send_new(viewer, sink);
  switch (wait(viewer)) {
    case Woken::to_stop:
      return false;
    case Woken::by_event:
      viewer.behind = true;
      return true;
    case Woken::by_time:
      break;
  }
  if (!sink.connected()) return false;
  if (steady_clock::now() < viewer.next_heartbeat) return true;
  viewer.next_heartbeat = steady_clock::now() + kHeartbeat;
  viewer.behind = true;  // also when nobody called notify(): late is better than never
  return sink.write(": still here\n\n");
}

bool EventFeed::send_new(Viewer& viewer, Sink& sink) {
  std::string text;
  {
    auto reader = readers_.take();
    if (!reader) return false;  // the client comes back after its retry time
    auto events = (*reader)->events_after(viewer.place, kBatch);
    if (!events) return false;
    for (const store::Event& event : *events) {
      text += message_of(event);
      viewer.place = event.seq;
    }
    viewer.behind = events->size() == kBatch;
  }
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
  }
  return text.empty() || sink.write(text);
}

EventFeed::Woken EventFeed::wait(const Viewer& viewer) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kLook, [&] { return stopping_ || last_seq_ > viewer.place; });
  if (stopping_) return Woken::to_stop;
  return last_seq_ > viewer.place ? Woken::by_event : Woken::by_time;
}

base::Result<std::int64_t> EventFeed::last_stored() {
  NS_ASSIGN(reader, readers_.take());
  NS_ASSIGN(overview, reader->overview());
  return overview.events;
}

void EventFeed::notify(std::int64_t last_seq) {
  {
    std::lock_guard lock(mutex_);
    if (last_seq <= last_seq_) return;
    last_seq_ = last_seq;
  }
  changed_.notify_all();
}

void EventFeed::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

int EventFeed::viewers() const {
  std::lock_guard lock(mutex_);
  return viewers_;
}

}  // namespace web

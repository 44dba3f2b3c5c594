#include <condition_variable>
#include <mutex>
#include <numeric>
#include <stop_token>
#include <thread>

#include "web/api/test_site.h"

namespace web {

using std::chrono::milliseconds;
using std::chrono::seconds;

static hypotheses::Fact note(const std::string& text) { return hypotheses::Noted{{1}, {2}, text}; }

static std::vector<std::int64_t> numbers(std::int64_t first, std::size_t count) {
  std::vector<std::int64_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

TEST_CASE("events arrive named and numbered, with their facts") {
  TestSite site;
  EventClient client(site, "/api/v1/events");
  REQUIRE(eventually([&] { return client.text().find("nightshift events") != std::string::npos; }));
  const auto last = site.store.last_seq();
  site.commit({note("line\nbreak")});
  const auto ids = client.wait_for(1, seconds(5));
  CHECK(ids == numbers(last + 1, 1));
  const std::string text = client.text();
  CHECK(text.find("event: noted\n") != std::string::npos);
  const std::size_t at = text.find("data: ") + 6;
  const auto data = nlohmann::json::parse(text.substr(at, text.find('\n', at) - at));
  CHECK(data["fact"]["text"] == "line\nbreak");
  CHECK(data["seq"] == last + 1);
}

TEST_CASE("a viewer that comes back misses nothing and sees nothing twice") {
  TestSite site;
  std::int64_t place = 0;
  // Writes for as long as somebody looks; a jthread, so that a failed check ends it too.
  std::jthread writer([&](std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      auto stored = site.store.commit({{1}, {note("a"), note("b")}, {}, {}});
      if (!stored) return;
      site.server->notify(site.store.last_seq());
      never.wait_for(lock, stop, milliseconds(2), [] { return false; });
    }
  });
  std::vector<std::int64_t> seen;
  // The first look begins before everything; each later one where the last one ended.
  for (int look = 0; look < 6; ++look) {
    httplib::Headers headers;
    if (look > 0) headers.emplace("Last-Event-ID", std::to_string(place));
    EventClient client(site, "/api/v1/events?after=0", headers);
    const auto ids = client.wait_for(60, seconds(20));
    REQUIRE(ids.size() >= 60);
    seen.insert(seen.end(), ids.begin(), ids.end());
    place = seen.back();
  }
  writer.request_stop();
  writer.join();
  CHECK(seen == numbers(1, seen.size()));
}

TEST_CASE("a place that this store has not reached is answered with a reset") {
  TestSite site;
  EventClient client(site, "/api/v1/events?after=100000");
  CHECK(eventually([&] { return client.text().find("event: reset\n") != std::string::npos; }));
  const auto last = site.store.last_seq();
  site.commit({note("next")});
  CHECK(client.wait_for(1, seconds(5)) == numbers(last + 1, 1));
}

TEST_CASE("viewers beyond the limit are told so, and a vanished one makes room") {
  Options options;
  options.max_viewers = 2;
  TestSite site(std::move(options));
  EventClient first(site, "/api/v1/events");
  EventClient second(site, "/api/v1/events");
  REQUIRE(eventually([&] { return site.get("/healthz")["viewers"] == 2; }));
  auto third = site.client().Get("/api/v1/events");
  REQUIRE(third);
  CHECK(third->status == 503);
  CHECK(third->get_header_value("Retry-After") == "10");
  second.leave();
  CHECK(eventually([&] { return site.get("/healthz")["viewers"] == 1; }, seconds(4)));
  EventClient fourth(site, "/api/v1/events?after=0");
  CHECK(fourth.wait_for(1, seconds(5)).size() >= 1);
}

TEST_CASE("forty viewers leave a request quick, and all hear of an event") {
  TestSite site;
  std::vector<std::unique_ptr<EventClient>> viewers;
  for (int i = 0; i < 40; ++i) {
    viewers.push_back(std::make_unique<EventClient>(site, "/api/v1/events"));
  }
  REQUIRE(eventually([&] { return site.get("/healthz")["viewers"] == 40; }, seconds(10)));
  const auto before = std::chrono::steady_clock::now();
  site.get("/api/v1/hypotheses/H-1");
  CHECK(std::chrono::steady_clock::now() - before < milliseconds(500));
  site.commit({note("x")});
  for (auto& viewer : viewers) CHECK(viewer->wait_for(1, seconds(5)).size() == 1);

  const auto stopping = std::chrono::steady_clock::now();
  site.server->stop();
  CHECK(std::chrono::steady_clock::now() - stopping < seconds(2));
  for (auto& viewer : viewers) CHECK(eventually([&] { return viewer->ended(); }));
}

TEST_CASE("an abrupt end of many viewers leaves none behind") {
  TestSite site;
  {
    std::vector<std::unique_ptr<EventClient>> viewers;
    for (int i = 0; i < 20; ++i) {
      viewers.push_back(std::make_unique<EventClient>(site, "/api/v1/events?after=0"));
    }
    for (auto& viewer : viewers) viewer->wait_for(1, seconds(5));
  }
  CHECK(eventually([&] { return site.get("/healthz")["viewers"] == 0; }));
}

}  // namespace web

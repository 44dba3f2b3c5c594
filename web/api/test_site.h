// A server over a real store with the sample night, for tests; and clients to talk to it.
#pragma once

#include <httplib.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "web/api/fake_inbox.h"
#include "web/api/sample_night.h"
#include "web/api/server.h"

namespace web {

inline const std::string kToken = "a-token-for-tests-0123456789";

class TestSite {
 public:
  explicit TestSite(Options options = {}, bool with_night = true);

  httplib::Client client() const;  // times out after 10 s
  httplib::Headers token() const { return {{"Authorization", "Bearer " + kToken}}; }
  httplib::Headers token_and(std::string name, std::string value) const;

  nlohmann::json get(const std::string& path);  // expects 200 and JSON
  // A command with the token; the status.
  int post(const std::string& path, const std::string& body);
  void commit(std::vector<hypotheses::Fact> facts);  // and notifies
  // Bytes as they are, over a socket of its own that then says no more; what came back.
  std::string raw(const std::string& bytes) const;
  // A connection on which these bytes were sent; the caller closes it.
  int connected(const std::string& bytes) const;

  base::TempDir folder;
  store::Store store;
  FakeInbox inbox;
  base::SystemClock clock;
  std::unique_ptr<Server> server;
};

// A browser that has signed in: its cookie, and the CSRF token of its pages.
struct Session {
  explicit Session(TestSite& site, const std::string& name = "Ada");
  httplib::Headers headers() const { return {{"Cookie", cookie}}; }

  std::string cookie;
  std::string csrf;
};

// Reads a live stream on a thread of its own.
class EventClient {
 public:
  EventClient(const TestSite& site, std::string path, const httplib::Headers& headers = {});
  ~EventClient();

  // Waits until at least `count` events with an id came, or the time is over; their ids.
  std::vector<std::int64_t> wait_for(std::size_t count, std::chrono::milliseconds longest);
  std::string text() const;
  void leave();  // closes the connection
  bool ended() const { return ended_; }

 private:
  httplib::Client client_;
  mutable std::mutex mutex_;
  std::string text_;  // guarded by mutex_
  std::atomic<bool> ended_{false};
  std::atomic<bool> leaving_{false};
  std::thread thread_;
};

// Asks again every few milliseconds until it holds; false when the time is over.
bool eventually(const std::function<bool()>& holds,
                std::chrono::milliseconds longest = std::chrono::seconds(5));

}  // namespace web

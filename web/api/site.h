// What routes share, and the table of routes.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/artifacts.h"
#include "web/api/access.h"
#include "web/api/event_feed.h"
#include "web/api/http.h"
#include "web/api/readers.h"
#include "web/api/server.h"

namespace web {

struct Counters {
  std::array<std::atomic<std::int64_t>, 6> answers{};  // by the first digit of the status
  std::atomic<std::int64_t> commands{0};
  std::atomic<int> waiting_commands{0};
};

struct Site {
  Options options;
  CommandInbox& inbox;
  const base::Clock& clock;
  ReaderPool readers;
  EventFeed feed;
  Counters counters;
  std::optional<store::Artifacts> artifacts;  // none where the folder cannot be had
  std::unique_ptr<Access> access;             // made once the port is known
};

struct Call {
  const Request& request;
  std::vector<std::string> parts;  // what stood for each {...} of the pattern
  Caller caller;
};

// Who may call a route.
enum class Guard {
  open,   // anyone who reaches the server
  read,   // anyone on loopback; else with the token or a session
  write,  // the token, or a session with its CSRF token in X-CSRF-Token
  form,   // a session with its CSRF token in the form's field "csrf"
};

struct Route {
  std::string_view method;
  std::string_view pattern;  // "/api/v1/merges/{id}"
  Guard guard;
  Response (*action)(Site&, const Call&);
};

std::span<const Route> api_routes();
std::span<const Route> page_routes();

// The whole way of a request: stranger? known route? allowed? then the route's action.
Response answer(Site& site, const Request& request);

bool is_api(const Request& request);

// Runs a command through the inbox. unavailable when too many wait already: the loop must be stuck,
// and the threads are needed to say so.
base::Result<Reply> submit(Site& site, Command command);

Response json_response(std::string text, int status = 200);

}  // namespace web

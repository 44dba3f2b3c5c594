// The daemon's front: API, live events and pages on one port.
//
//   auto server = web::Server::start({.state_folder = state, .token = token}, inbox, clock);
//   ... after each commit: (*server)->notify(store.last_seq());
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "hypotheses/ids.h"
#include "web/api/ports.h"

namespace web {

struct Options {
  std::string host = "127.0.0.1";
  int port = 8700;                     // 0 = any free one
  std::filesystem::path state_folder;  // the store's
  // For writes (and, on other than loopback, for reads). The daemon makes it at its first start and
  // keeps it in the state folder, mode 0600. At least 16 characters.
  std::string token;
  int max_viewers = 64;            // live event streams; more get 503
  bool allow_remote = false;       // without it only loopback addresses may be listened on
  std::vector<std::string> hosts;  // further names under which this server is reached
  std::string version;             // shown in /healthz and at the foot of the pages

  // What is wrong with the decision loop ("no step for 40 s"); empty = nothing. For /healthz.
  std::function<std::string()> stuck;
  // What deserves a look although all goes on; empty = nothing. For /healthz too.
  std::function<std::string()> warning;
  // The change as a unified diff, bounded; pages offer it where this is set.
  std::function<base::Result<std::string>(const hypotheses::CommitId& base,
                                          const hypotheses::CommitId& candidate)>
      diff;
};

class Server {
 public:
  // Both references must outlive the server. Errors: conflict (the port is in use), refused (a
  // remote address without allow_remote), bad_input (no token, no such address).
  static base::Result<std::unique_ptr<Server>> start(Options options, CommandInbox& inbox,
                                                     const base::Clock& clock);
  ~Server();

  int port() const;
  std::string url() const;  // "http://127.0.0.1:8700"
  // Tells live viewers that the store has grown. Thread-safe and quick.
  void notify(std::int64_t last_seq);
  // Ends live streams and open requests, then returns; within 2 s unless the inbox still holds a
  // command, so end its waiters first.
  void stop();

  struct Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace web

// The HTTP server: a lobby that gathers requests and a fixed number of threads that answer them.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "serving/api/http.h"
#include "serving/api/lobby.h"
#include "serving/core/result.h"

namespace serving {

struct ListenerOptions {
  std::string host = "127.0.0.1";
  int port = 0;      // 0: any free one
  int threads = 72;  // answers under way at a time; a stream holds one to its end
  std::chrono::milliseconds write_patience{5'000};  // a client that takes nothing so long is gone
  LobbyOptions lobby = {};
};

class Listener {
 public:
  // The handler is called by many threads at once.
  static Result<std::unique_ptr<Listener>> start(const ListenerOptions& options, Handler handler);
  ~Listener();  // ends every connection, also of answers under way

  int port() const { return lobby_.port(); }

 private:
  Listener(Socket socket, const ListenerOptions& options, Handler handler);
  void enqueue(Arrival arrival);
  void work(std::stop_token stop);
  void serve(Arrival arrival);

  ListenerOptions options_;
  Handler handler_;
  Lobby lobby_;

  std::mutex mutex_;
  std::condition_variable_any filled_;
  std::deque<Arrival> queue_;  // guarded by mutex_
  std::set<int> answering_;    // descriptors; guarded by mutex_
  bool stopping_ = false;      // guarded by mutex_
  std::vector<std::jthread> threads_;
};

}  // namespace serving

// Where connections wait until their request has arrived whole, and again, once answered, until the
// client has read the answer. One thread watches them all, so that a slow or silent client costs a
// buffer and never a thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "serving/api/socket.h"
#include "serving/api/wire.h"

namespace serving {

struct LobbyOptions {
  int connections = 4096;                      // beyond: 503 at once
  std::size_t body_bytes = 4 << 20;            // of one request; beyond: 413
  std::size_t held_bytes = 64 << 20;           // of all bodies together; beyond: 503
  std::chrono::milliseconds patience{10'000};  // from accept to the last byte; beyond: 408
  std::chrono::milliseconds goodbye{1'000};    // for the client to read its answer
};

// A request that is complete. Its connection goes back to the lobby by leave().
struct Arrival {
  Socket socket;
  RequestHead head;
  std::string body;
};

class Lobby {
 public:
  // `arrived` is called by run()'s thread and must not wait.
  Lobby(Socket listener, LobbyOptions options, std::function<void(Arrival)> arrived);

  void run(std::stop_token stop);
  // After an answer, from any thread. `body_bytes` is what the request's body held.
  void leave(Socket socket, std::size_t body_bytes);
  int port() const { return local_port(listener_); }

 private:
  enum class Phase { head, body, leaving };
  struct Guest {
    Socket socket;
    Phase phase = Phase::head;
    std::int64_t deadline_ns = 0;
    std::string bytes = {};
    RequestHead head = {};
    std::size_t head_bytes = 0;
  };
  using Guests = std::unordered_map<int, Guest>;  // by descriptor

  void accept_all();
  void admit(Socket socket, Phase phase);
  void receive(Guests::iterator guest);
  void advance(Guests::iterator guest);
  void refuse(Guests::iterator guest, const ApiError& error);
  void begin_leaving(Guest& guest);
  void hand_over(Guests::iterator guest);
  void remove(Guests::iterator guest);
  void take_leavers();
  void expire();
  void watch(int descriptor);
  void unwatch(int descriptor);

  Socket listener_;
  LobbyOptions options_;
  std::function<void(Arrival)> arrived_;
  Socket epoll_, wake_;
  Guests guests_;
  bool listening_ = true;  // false for a moment when the process has no descriptors
  std::atomic<std::size_t> held_bytes_ = 0;  // announced bodies, until leave()
  std::atomic<int> handed_over_ = 0;

  std::mutex mutex_;
  std::vector<Socket> leavers_;  // guarded by mutex_
};

}  // namespace serving

// TCP sockets, owned and never blocking.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "serving/core/result.h"

namespace serving {

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  // False when the client has gone or took nothing for `patience`.
  bool send_all(std::string_view bytes, std::chrono::milliseconds patience) const;
  // The client closed the connection, at least the half that it sends on.
  bool hung_up() const;

 private:
  int descriptor_ = -1;
};

// Port 0: any free one. bad_input: no such address; unavailable: the port is taken.
Result<Socket> listen_on(const std::string& host, int port);
int local_port(const Socket& socket);

// The next connection, or an empty socket: with `again` none waits, else the process or the system
// has no room for another.
Socket accept_from(const Socket& listener, bool& again);

}  // namespace serving

// A client's socket with the bounds that cpp-httplib does not set: bytes of the head, time for the
// whole request, time for each write.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

namespace web {

struct SocketLimits {
  std::size_t head_bytes = 32 << 10;          // request line and header lines together
  std::chrono::milliseconds request{10'000};  // from accept to the last byte of the body
  std::chrono::milliseconds write{5'000};     // a client that takes no bytes for so long is gone
};

// Does not own the descriptor. A read beyond a bound, after a failure or after shutdown() fails.
class BoundedSocket {
 public:
  BoundedSocket(int descriptor, SocketLimits limits);

  bool is_readable() const;
  bool is_writable() const;  // false once the client has gone
  ssize_t read(char* to, size_t size);
  ssize_t write(const char* from, size_t size);
  void remote_address(std::string& ip, int& port) const;
  void local_address(std::string& ip, int& port) const;
  int descriptor() const { return descriptor_; }

  bool refused_head() const { return head_seen_ > limits_.head_bytes; }

 private:
  bool wait(short events, std::chrono::milliseconds longest) const;
  bool count_head(char c);

  int descriptor_;
  SocketLimits limits_;
  std::chrono::steady_clock::time_point deadline_;
  std::array<char, 4096> buffer_{};
  std::size_t begin_ = 0, end_ = 0;  // what of buffer_ has not been handed out
  std::size_t head_seen_ = 0;
  bool head_complete_ = false;
  int line_bytes_ = 0;  // of the head's current line, without its line break
};

// Before a close, so that an answer is not lost where the client is still sending: ends our side,
// then takes and drops what comes for a moment. shutdown() from another thread ends it at once.
void say_goodbye(int descriptor);

}  // namespace web

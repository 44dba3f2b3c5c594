#include "web/api/socket.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace web {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

void name_of(const sockaddr_storage& address, std::string& ip, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    port = ntohs(v6.sin6_port);
  }
  ip = text.data();
}

}  // namespace

BoundedSocket::BoundedSocket(int descriptor, SocketLimits limits)
    : descriptor_(descriptor), limits_(limits), deadline_(steady_clock::now() + limits.request) {}

bool BoundedSocket::wait(short events, milliseconds longest) const {
  const auto until = steady_clock::now() + longest;
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - steady_clock::now());
    pollfd polled{descriptor_, events, 0};
    const int ready = poll(&polled, 1, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool BoundedSocket::is_readable() const {
  return begin_ < end_ ||
         wait(POLLIN, std::chrono::duration_cast<milliseconds>(deadline_ - steady_clock::now()));
}

// Asked only of live streams, after the whole request was read: a client that ends its side then is
// leaving, and waiting for a failed write would keep its place for another heartbeat.
bool BoundedSocket::is_writable() const {
  pollfd polled{descriptor_, POLLOUT | POLLRDHUP, 0};
  if (poll(&polled, 1, 0) < 0) return false;
  return (polled.revents & (POLLRDHUP | POLLERR | POLLHUP | POLLNVAL)) == 0;
}

// True while the head is within its bound. The head ends with the first empty line.
bool BoundedSocket::count_head(char c) {
  if (head_complete_) return true;
  ++head_seen_;
  if (c == '\n') {
    head_complete_ = line_bytes_ == 0;
    line_bytes_ = 0;
  } else if (c != '\r') {
    ++line_bytes_;
  }
  return head_seen_ <= limits_.head_bytes;
}

ssize_t BoundedSocket::read(char* to, size_t size) {
  if (refused_head()) return -1;
  if (begin_ == end_) {
    if (steady_clock::now() >= deadline_ || !is_readable()) return -1;
    ssize_t got = 0;
    do {
      got = recv(descriptor_, buffer_.data(), buffer_.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return got;
    begin_ = 0;
    end_ = static_cast<std::size_t>(got);
  }
  const std::size_t count = std::min(size, end_ - begin_);
  for (std::size_t i = 0; i < count && !head_complete_; ++i) {
    if (!count_head(buffer_[begin_ + i])) return -1;
  }
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t BoundedSocket::write(const char* from, size_t size) {
  std::size_t sent = 0;
  while (sent < size) {
    if (!wait(POLLOUT, limits_.write)) return -1;
    const ssize_t step = send(descriptor_, from + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (step < 0 && errno != EINTR && errno != EAGAIN) return -1;
    if (step > 0) sent += static_cast<std::size_t>(step);
  }
  return static_cast<ssize_t>(size);
}

void BoundedSocket::remote_address(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getpeername(descriptor_, reinterpret_cast<sockaddr*>(&address), &length) == 0) {
    name_of(address, ip, port);
  }
}

void BoundedSocket::local_address(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  if (getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &length) == 0) {
    name_of(address, ip, port);
  }
}

void say_goodbye(int descriptor) {
  shutdown(descriptor, SHUT_WR);
  // As long as something keeps coming, within limits: closing on unread bytes makes a reset of it,
  // and that would take our answer from the client's hands.
  const auto until = steady_clock::now() + milliseconds(2000);
  std::array<char, 16384> dropped{};
  for (std::size_t bytes = 0; bytes < (8u << 20) && steady_clock::now() < until;) {
    pollfd polled{descriptor, POLLIN, 0};
    if (poll(&polled, 1, 300) <= 0) break;
    const ssize_t got = recv(descriptor, dropped.data(), dropped.size(), 0);
    if (got <= 0) break;
    bytes += static_cast<std::size_t>(got);
  }
}

}  // namespace web

#include "serving/api/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace serving {

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Socket::send_all(std::string_view bytes, std::chrono::milliseconds patience) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && errno == EAGAIN) {
      pollfd writable{descriptor_, POLLOUT, 0};
      const int ready = ::poll(&writable, 1, static_cast<int>(patience.count()));
      if (ready == 0 || (ready < 0 && errno != EINTR)) return false;
    } else if (sent < 0 && errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool Socket::hung_up() const {
  pollfd gone{descriptor_, POLLRDHUP, 0};
  return ::poll(&gone, 1, 0) > 0;
}

Result<Socket> listen_on(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list) != 0) {
    return fail(ErrorCode::bad_input, "\"" + host + "\" is no address to listen on (--host)");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, ::freeaddrinfo);
  Socket socket(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(socket.descriptor(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(socket.descriptor(), 1024) != 0) {
    const ErrorCode code = errno == EADDRINUSE ? ErrorCode::unavailable : ErrorCode::bad_input;
    return fail(code, "cannot listen on " + host + ":" + std::to_string(port) + ": " +
                          std::strerror(errno) + "; choose another with --port N (0: any free)");
  }
  return socket;
}

int local_port(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  ::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

Socket accept_from(const Socket& listener, bool& again) {
  again = true;
  const int descriptor =
      ::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor < 0) {
    again = errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
    return {};
  }
  const int on = 1;  // a token is a small packet that must not wait for the next
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return Socket(descriptor);
}

}  // namespace serving

#include "serving/api/lobby.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "serving/api/api_error.h"
#include "serving/core/clock.h"

namespace serving {
namespace {

constexpr int kTickMs = 50;                   // how late a deadline may be noticed
constexpr std::size_t kReadBytes = 64 << 10;  // of one connection before the others get their turn

std::int64_t from_now(std::chrono::milliseconds wait) {
  return now_ns() + std::chrono::nanoseconds(wait).count();
}

std::string answer(const ApiError& error) {
  const HttpResponse response = error_response(error);
  return response_head(response) + response.body;
}

}  // namespace

Lobby::Lobby(Socket listener, LobbyOptions options, std::function<void(Arrival)> arrived)
    : listener_(std::move(listener)),
      options_(options),
      arrived_(std::move(arrived)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  watch(listener_.descriptor());
  watch(wake_.descriptor());
}

void Lobby::run(std::stop_token stop) {
  const std::stop_callback wake(stop, [this] { ::eventfd_write(wake_.descriptor(), 1); });
  std::array<epoll_event, 64> events{};
  std::int64_t next_tick_ns = 0;
  while (!stop.stop_requested()) {
    const int count = ::epoll_wait(epoll_.descriptor(), events.data(), events.size(), kTickMs);
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      if (descriptor == listener_.descriptor()) {
        accept_all();
      } else if (descriptor == wake_.descriptor()) {
        take_leavers();
      } else if (const auto guest = guests_.find(descriptor); guest != guests_.end()) {
        receive(guest);
      }
    }
    if (now_ns() < next_tick_ns) continue;
    next_tick_ns = from_now(std::chrono::milliseconds(kTickMs));
    expire();
    if (!listening_) watch(listener_.descriptor());
    listening_ = true;
  }
  guests_.clear();
}

void Lobby::accept_all() {
  bool again = true;
  while (Socket socket = accept_from(listener_, again)) {
    if (static_cast<int>(guests_.size()) + handed_over_ >= options_.connections) {
      socket.send_all(answer({503, "too many connections; try again later"}), {});
      continue;
    }
    admit(std::move(socket), Phase::head);
  }
  if (again) return;
  // No descriptor is free: asking again at once would only burn the processor.
  unwatch(listener_.descriptor());
  listening_ = false;
}

void Lobby::admit(Socket socket, Phase phase) {
  const int descriptor = socket.descriptor();
  Guest& guest =
      guests_.insert_or_assign(descriptor, Guest{.socket = std::move(socket)}).first->second;
  guest.deadline_ns = from_now(options_.patience);
  if (phase == Phase::leaving) begin_leaving(guest);
  watch(descriptor);
}

void Lobby::receive(Guests::iterator at) {
  Guest& guest = at->second;
  thread_local std::array<char, kReadBytes> buffer;
  const ssize_t count = ::recv(at->first, buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return remove(at);
  if (guest.phase == Phase::leaving) return;  // what it still sends is dropped
  guest.bytes.append(buffer.data(), static_cast<std::size_t>(count));
  advance(at);
}

void Lobby::advance(Guests::iterator at) {
  Guest& guest = at->second;
  if (guest.phase == Phase::head) {
    if (guest.bytes[0] < 'A' || guest.bytes[0] > 'Z') {
      return refuse(at, {400, "this is not HTTP; the API speaks plain HTTP/1.1"});
    }
    guest.head_bytes = end_of_head(guest.bytes);
    const bool complete = guest.head_bytes != std::string::npos;
    if ((complete ? guest.head_bytes : guest.bytes.size()) > kHeadBytes) {
      return refuse(at, {431, "the request line and headers are larger than 16 KiB"});
    }
    if (!complete) return;
    auto head =
        parse_head(std::string_view(guest.bytes).substr(0, guest.head_bytes), options_.body_bytes);
    if (!head) return refuse(at, head.error());
    if (held_bytes_ + head->body_bytes > options_.held_bytes) {
      return refuse(at, {503, "the requests under way fill the memory set aside for them"});
    }
    guest.head = std::move(*head);
    guest.phase = Phase::body;
    held_bytes_ += guest.head.body_bytes;
    if (guest.head.expects_continue) guest.socket.send_all("HTTP/1.1 100 Continue\r\n\r\n", {});
  }
  if (guest.bytes.size() >= guest.head_bytes + guest.head.body_bytes) hand_over(at);
}

void Lobby::hand_over(Guests::iterator at) {
  Guest guest = std::move(at->second);
  unwatch(at->first);
  guests_.erase(at);
  ++handed_over_;
  arrived_({std::move(guest.socket), std::move(guest.head),
            guest.bytes.substr(guest.head_bytes, guest.head.body_bytes)});
}

void Lobby::refuse(Guests::iterator at, const ApiError& error) {
  at->second.socket.send_all(answer(error), {});
  if (at->second.phase == Phase::body) held_bytes_ -= at->second.head.body_bytes;
  begin_leaving(at->second);
}

// Closing while the client still sends would reset the connection, and the answer could be lost.
void Lobby::begin_leaving(Guest& guest) {
  guest.phase = Phase::leaving;
  guest.bytes = {};
  guest.deadline_ns = from_now(options_.goodbye);
  ::shutdown(guest.socket.descriptor(), SHUT_WR);
}

void Lobby::remove(Guests::iterator at) {
  if (at->second.phase == Phase::body) held_bytes_ -= at->second.head.body_bytes;
  guests_.erase(at);  // closing takes the descriptor off the watch
}

void Lobby::leave(Socket socket, std::size_t body_bytes) {
  held_bytes_ -= body_bytes;
  {
    std::lock_guard lock(mutex_);
    leavers_.push_back(std::move(socket));
  }
  ::eventfd_write(wake_.descriptor(), 1);
}

void Lobby::take_leavers() {
  eventfd_t count = 0;
  ::eventfd_read(wake_.descriptor(), &count);
  std::vector<Socket> leavers;
  {
    std::lock_guard lock(mutex_);
    leavers.swap(leavers_);
  }
  for (Socket& socket : leavers) {
    --handed_over_;
    admit(std::move(socket), Phase::leaving);
  }
}

void Lobby::expire() {
  const std::int64_t now = now_ns();
  for (auto at = guests_.begin(); at != guests_.end();) {
    const auto guest = at++;
    if (guest->second.deadline_ns > now) continue;
    if (guest->second.phase == Phase::leaving) {
      remove(guest);
    } else {
      refuse(guest, {408, "the request did not arrive within " +
                              std::to_string(options_.patience.count()) + " ms"});
    }
  }
}

void Lobby::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  ::epoll_ctl(epoll_.descriptor(), EPOLL_CTL_ADD, descriptor, &event);
}

void Lobby::unwatch(int descriptor) {
  ::epoll_ctl(epoll_.descriptor(), EPOLL_CTL_DEL, descriptor, nullptr);
}

}  // namespace serving

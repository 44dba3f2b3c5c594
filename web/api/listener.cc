#include "web/api/listener.h"

#include <fmt/format.h>
#include <httplib.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "web/api/socket.h"

namespace web {

namespace {

using base::ErrorCode;
constexpr std::size_t kTargetBytes = 2048;

// httplib's own default also sets SO_REUSEPORT, with which a second daemon would share the port.
void reuse_address_only(socket_t socket) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}

// A BoundedSocket in the shape that httplib wants.
class Stream final : public httplib::Stream {
 public:
  explicit Stream(int descriptor) : socket_(descriptor, {}) {}

  bool is_readable() const override { return socket_.is_readable(); }
  bool is_writable() const override { return socket_.is_writable(); }
  ssize_t read(char* to, size_t size) override { return socket_.read(to, size); }
  ssize_t write(const char* from, size_t size) override { return socket_.write(from, size); }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    socket_.remote_address(ip, port);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    socket_.local_address(ip, port);
  }
  socket_t socket() const override { return socket_.descriptor(); }

 private:
  BoundedSocket socket_;
};

// Owns the connections, so that stop() can end them and bounds hold from the first byte.
class BoundedServer final : public httplib::Server {
 public:
  ~BoundedServer() override = default;

  // httplib listens with a backlog of 5; a page and its viewers come in bursts.
  void widen_backlog() { ::listen(svr_sock_, 256); }

  void end_connections() {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (socket_t socket : open_) shutdown(socket, SHUT_RDWR);
  }

 private:
  bool process_and_close_socket(socket_t socket) override {
    if (!enter(socket)) {
      close(socket);
      return false;
    }
    bool ok = false;
    try {
      Stream stream(socket);
      bool closed = false;
      // Range is no part of this API; httplib would serve thousands of overlapping ones.
      ok = process_request(stream, true, closed, [](httplib::Request& request) {
        request.ranges.clear();
        request.headers.erase("Range");
      });
    } catch (...) {
      // A broken request costs its own connection and nothing else.
    }
    say_goodbye(socket);
    // The descriptor leaves the list before it is closed: its number may be given out anew at once.
    leave(socket);
    close(socket);
    return ok;
  }

  bool enter(socket_t socket) {
    std::lock_guard lock(mutex_);
    if (!stopping_) open_.insert(socket);
    return !stopping_;
  }
  void leave(socket_t socket) {
    std::lock_guard lock(mutex_);
    open_.erase(socket);
  }

  std::mutex mutex_;
  std::set<socket_t> open_;  // guarded by mutex_
  bool stopping_ = false;    // guarded by mutex_
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return text;
}

// Segments are split before they are decoded, so "%2e%2e%2f" stays one odd name.
std::vector<std::string> segments_of(std::string_view target) {
  std::string_view path = target.substr(0, target.find('?'));
  std::vector<std::string> segments;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) segments.push_back(percent_decode(path.substr(0, slash), false));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return segments;
}

Request plain(const httplib::Request& from) {
  Request to;
  to.head = from.method == "HEAD";
  to.method = to.head ? "GET" : from.method;
  to.target = from.target;
  to.path = segments_of(from.target);
  if (const auto at = from.target.find('?'); at != std::string::npos) {
    to.query = parse_form(std::string_view(from.target).substr(at + 1));
  }
  for (const auto& [name, value] : from.headers) to.headers.emplace(lower(name), value);
  return to;
}

// What is refused before any route sees it; an answer, or status 0 for "go on".
Response refuse(const httplib::Request& request, std::size_t body_bytes) {
  const auto refused = [](int status, std::string_view code, std::string_view message) {
    return error_response(status, code, message);
  };
  if (request.target.size() > kTargetBytes) {
    return refused(414, "bad-input", "the URL is longer than 2048 bytes");
  }
  for (unsigned char c : request.target) {
    if (c < 0x21 || c == 0x7f)
      return refused(400, "bad-input", "the URL holds a control character");
  }
  if (request.has_header("Transfer-Encoding")) {
    return refused(400, "bad-input", "send the body with Content-Length, not Transfer-Encoding");
  }
  if (request.has_header("Content-Encoding")) {
    return refused(400, "bad-input", "send the body plain, without Content-Encoding");
  }
  for (const char* once : {"Host", "Content-Length", "Authorization", "Origin"}) {
    if (request.get_header_value_count(once) > 1) {
      return refused(400, "bad-input", fmt::format("the header {} is given twice", once));
    }
  }
  const std::string length = request.get_header_value("Content-Length");
  if (!std::all_of(length.begin(), length.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return refused(400, "bad-input", "Content-Length is no number");
  }
  if (length.size() > 12 || (!length.empty() && std::stoull(length) > body_bytes)) {
    return refused(413, "bad-input",
                   fmt::format("the body is larger than {} KiB", body_bytes >> 10));
  }
  return {.status = 0, .type = {}, .body = {}, .headers = {}, .stream = {}, .stream_ended = {}};
}

void write(Response&& from, const Request& request, httplib::Response& to) {
  to.status = from.status;
  for (auto& [name, value] : from.headers) to.set_header(name, value);
  if (!from.stream || request.head) {
    if (from.stream_ended) from.stream_ended();
    to.set_content(from.body, from.type);
    return;
  }
  to.set_chunked_content_provider(
      from.type,
      [stream = std::move(from.stream)](std::size_t, httplib::DataSink& sink) {
        Sink plain_sink{[&](std::string_view text) { return sink.write(text.data(), text.size()); },
                        [&] { return sink.is_writable(); }};
        if (stream(plain_sink)) return true;
        sink.done();
        return false;
      },
      [ended = std::move(from.stream_ended)](bool) {
        if (ended) ended();
      });
}

// Why nobody could listen there, asked of the system once more.
base::Error why_not(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return {ErrorCode::bad_input, fmt::format("\"{}\" is no address to listen on", host), "--host"};
  }
  const int probe = ::socket(found->ai_family, found->ai_socktype, found->ai_protocol);
  reuse_address_only(probe);
  int error = bind(probe, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
  if (error == 0 && ::listen(probe, 1) != 0) error = errno;
  close(probe);
  freeaddrinfo(found);
  if (error == EADDRINUSE || error == 0) {
    return {
        ErrorCode::conflict,
        fmt::format("port {} is in use, perhaps by another nightshift daemon; stop it or choose "
                    "another with --port N (0 = any free one)",
                    port),
        fmt::format("{}:{}", host, port)};
  }
  return {ErrorCode::bad_input, fmt::format("cannot listen: {}", std::strerror(error)),
          fmt::format("{}:{}", host, port)};
}

}  // namespace

struct Listener::Impl {
  BoundedServer server;
  Handler handler;
  ListenerOptions options;
  int port = 0;
  std::thread thread;
  std::once_flag stopped;

  void configure();
  void answer(const httplib::Request& from, httplib::Response& to, std::string body);
};

void Listener::Impl::answer(const httplib::Request& from, httplib::Response& to, std::string body) {
  Request request = plain(from);
  request.body = std::move(body);
  write(handler(request), request, to);
}

void Listener::Impl::configure() {
  server.set_socket_options(reuse_address_only);
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(1);
  server.new_task_queue = [this] {
    return new httplib::ThreadPool(static_cast<std::size_t>(options.threads));
  };
  server.set_pre_routing_handler([this](const httplib::Request& from, httplib::Response& to) {
    Response refusal = refuse(from, options.body_bytes);
    const bool has_body = !from.get_header_value("Content-Length").empty() &&
                          from.get_header_value("Content-Length") != "0";
    if (refusal.status != 0) {
      write(std::move(refusal), plain(from), to);
    } else if (from.method == "POST" && has_body && from.is_multipart_form_data()) {
      write(error_response(415, "bad-input", "send application/json"), plain(from), to);
    } else if (from.method == "POST" && has_body) {
      return httplib::Server::HandlerResponse::Unhandled;  // read the body first, below
    } else {
      answer(from, to, {});
    }
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Post("[^]*", [this](const httplib::Request& from, httplib::Response& to,
                             const httplib::ContentReader& read) {
    std::string body;
    const bool complete = read([&](const char* bytes, std::size_t count) {
      body.append(bytes, count);
      return body.size() <= options.body_bytes;
    });
    if (!complete) {
      write(error_response(400, "bad-input", "the body ended early"), plain(from), to);
    } else {
      answer(from, to, std::move(body));
    }
  });
  server.set_exception_handler(
      [](const httplib::Request&, httplib::Response& to, const std::exception_ptr&) {
        write(error_response(500, "bug", "the request failed inside; please report it"), {}, to);
      });
  server.set_error_handler([](const httplib::Request&, httplib::Response& to) {
    // Answers that httplib makes itself: a request line or a head that it cannot read.
    if (to.body.empty()) {
      const Response plain_error = error_response(to.status, "bad-input", "not a request");
      to.set_content(plain_error.body, plain_error.type);
    }
  });
}

base::Result<std::unique_ptr<Listener>> Listener::start(const ListenerOptions& options,
                                                        Handler handler) {
  auto impl = std::make_unique<Impl>();
  impl->handler = std::move(handler);
  impl->options = options;
  impl->configure();
  httplib::Server& server = impl->server;
  if (options.port == 0) {
    impl->port = server.bind_to_any_port(options.host);
    if (impl->port < 0) return tl::unexpected<base::Error>(why_not(options.host, 0));
  } else {
    if (!server.bind_to_port(options.host, options.port)) {
      return tl::unexpected<base::Error>(why_not(options.host, options.port));
    }
    impl->port = options.port;
  }
  impl->server.widen_backlog();
  impl->thread = std::thread([&server] { server.listen_after_bind(); });
  // Server::stop() is without effect until the loop runs.
  while (!server.is_running()) std::this_thread::yield();
  return std::unique_ptr<Listener>(new Listener(std::move(impl)));
}

Listener::Listener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Listener::~Listener() { stop(); }
int Listener::port() const { return impl_->port; }

void Listener::stop() {
  std::call_once(impl_->stopped, [this] {
    impl_->server.end_connections();
    impl_->server.stop();
    if (impl_->thread.joinable()) impl_->thread.join();
  });
}

}  // namespace web

#include "serving/api/listener.h"

#include <pthread.h>
#include <sys/socket.h>

#include <exception>

#include "serving/api/api_error.h"

namespace serving {
namespace {

class SocketReply final : public Reply {
 public:
  SocketReply(const Socket& socket, bool chunked, std::chrono::milliseconds patience)
      : socket_(socket), chunked_(chunked), patience_(patience) {}

  void send(const HttpResponse& response) override {
    begun_ = true;
    socket_.send_all(response_head(response) + response.body, patience_);
  }
  bool begin_stream(std::string_view type) override {
    begun_ = streaming_ = true;
    return alive_ = socket_.send_all(stream_head(type, chunked_), patience_);
  }
  bool write(std::string_view text) override {
    if (text.empty()) return alive_;  // an empty chunk would end the stream
    alive_ = alive_ && socket_.send_all(chunked_ ? chunk(text) : std::string(text), patience_);
    return alive_;
  }
  bool connected() override { return alive_ && !socket_.hung_up(); }

  bool begun() const { return begun_; }
  void end() {
    if (streaming_ && chunked_ && alive_) socket_.send_all(kLastChunk, patience_);
  }

 private:
  const Socket& socket_;
  const bool chunked_;
  const std::chrono::milliseconds patience_;
  bool begun_ = false, streaming_ = false, alive_ = true;
};

}  // namespace

Result<std::unique_ptr<Listener>> Listener::start(const ListenerOptions& options, Handler handler) {
  auto socket = listen_on(options.host, options.port);
  if (!socket) return tl::unexpected<Error>(socket.error());
  return std::unique_ptr<Listener>(new Listener(std::move(*socket), options, std::move(handler)));
}

Listener::Listener(Socket socket, const ListenerOptions& options, Handler handler)
    : options_(options),
      handler_(std::move(handler)),
      lobby_(std::move(socket), options.lobby,
             [this](Arrival arrival) { enqueue(std::move(arrival)); }) {
  threads_.emplace_back([this](std::stop_token stop) { lobby_.run(std::move(stop)); });
  for (int i = 0; i < options.threads; ++i) {
    threads_.emplace_back([this, i](std::stop_token stop) {
      ::pthread_setname_np(::pthread_self(), ("http " + std::to_string(i)).c_str());
      work(std::move(stop));
    });
  }
}

Listener::~Listener() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    for (int descriptor : answering_) ::shutdown(descriptor, SHUT_RDWR);
  }
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();  // joins
}

// What has no body costs next to nothing to answer (/health, /metrics) and goes first.
void Listener::enqueue(Arrival arrival) {
  std::lock_guard lock(mutex_);
  if (arrival.head.body_bytes == 0) {
    queue_.push_front(std::move(arrival));
  } else {
    queue_.push_back(std::move(arrival));
  }
  filled_.notify_one();
}

void Listener::work(std::stop_token stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!filled_.wait(lock, stop, [this] { return !queue_.empty(); }) || stopping_) return;
    Arrival arrival = std::move(queue_.front());
    queue_.pop_front();
    answering_.insert(arrival.socket.descriptor());
    lock.unlock();
    serve(std::move(arrival));
  }
}

void Listener::serve(Arrival arrival) {
  SocketReply reply(arrival.socket, arrival.head.chunked_reply, options_.write_patience);
  try {
    handler_({arrival.head.method, arrival.head.path, std::move(arrival.body)}, reply);
  } catch (const std::exception& error) {
    const ApiError bug{500, std::string("the request failed inside: ") + error.what()};
    if (!reply.begun()) reply.send(error_response(bug));
  }
  reply.end();
  {
    // Before the descriptor can be closed: its number may be given out anew at once.
    std::lock_guard lock(mutex_);
    answering_.erase(arrival.socket.descriptor());
  }
  lobby_.leave(std::move(arrival.socket), arrival.head.body_bytes);
}

}  // namespace serving

#include "serving/api/test_client.h"

#include <httplib.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <thread>

namespace serving {
namespace {

TestReply reply_of_result(const httplib::Result& result) {
  if (!result) return {};
  return {result->status, result->body, result->get_header_value("Content-Type"),
          result->get_header_value("Retry-After")};
}

}  // namespace

TestServer::TestServer(FakeEngineOptions engine, ListenerOptions listener,
                       CompletionOptions completions, TraceControl* trace)
    : engine_(std::move(engine)), api_(engine_, tokenizer_, std::move(completions), trace) {
  auto started = Listener::start(
      listener, [this](const HttpRequest& request, Reply& reply) { api_.handle(request, reply); });
  if (!started) FAIL(started.error().message);
  listener_ = std::move(*started);
}

CompletionOptions TestServer::default_completions() {
  CompletionOptions options;
  options.model = "fake";
  options.unix_s = [] { return 1'700'000'000; };
  return options;
}

FakeEngineOptions reply_of(const std::string& text) {
  FakeEngineOptions options;
  options.reply = FakeTokenizer().encode(text, true, false);
  return options;
}

std::vector<json> TestReply::events() const {
  std::vector<json> list;
  std::size_t at = 0;
  while (at < body.size()) {
    const std::size_t end = body.find("\n\n", at);
    REQUIRE(end != std::string::npos);
    const std::string event = body.substr(at, end - at);
    REQUIRE(event.rfind("data: ", 0) == 0);
    const std::string text = event.substr(6);
    list.push_back(text == "[DONE]" ? json(text) : json::parse(text));
    at = end + 2;
  }
  return list;
}

TestReply post_text(int port, const std::string& path, const std::string& body) {
  httplib::Client client("127.0.0.1", port);
  client.set_read_timeout(20);
  return reply_of_result(client.Post(path, body, "application/json"));
}

TestReply post(int port, const std::string& path, const json& body) {
  return post_text(port, path, body.dump());
}

TestReply get(int port, const std::string& path) {
  httplib::Client client("127.0.0.1", port);
  return reply_of_result(client.Get(path));
}

RawClient::RawClient(int port, int receive_buffer_bytes)
    : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer_bytes > 0) {
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
                 sizeof(receive_buffer_bytes));
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
}

RawClient::~RawClient() { close(); }

void RawClient::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

// What the server no longer takes is not this client's failure.
void RawClient::send(const std::string& bytes) const {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t sent = ::send(descriptor_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent <= 0) return;
    at += static_cast<std::size_t>(sent);
  }
}

std::string RawClient::receive(std::chrono::milliseconds patience, const std::string& until) const {
  std::string all;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::array<char, 16384> buffer;
  while (until.empty() || all.find(until) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd readable{descriptor_, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) <= 0) break;
    const ssize_t count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (count <= 0) break;
    all.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return all;
}

std::string raw_post(const std::string& path, const std::string& body) {
  return "POST " + path +
         " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

bool eventually_shows(const TestServer& server, const std::string& line) {
  return eventually(
      [&] { return get(server.port(), "/metrics").body.find(line) != std::string::npos; });
}

}  // namespace serving

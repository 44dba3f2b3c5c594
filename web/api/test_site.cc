#include "web/api/test_site.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <regex>

namespace web {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

static store::Store opened(const std::filesystem::path& folder) {
  auto store = store::Store::open(folder);
  if (!store) FAIL(store.error().text());
  return std::move(*store);
}

TestSite::TestSite(Options options, bool with_night) : store(opened(folder.path())) {
  if (with_night) {
    auto stored = store.commit(sample::commit());
    if (!stored) FAIL(stored.error().text());
  }
  options.port = 0;
  options.state_folder = folder.path();
  options.token = kToken;
  auto started = Server::start(std::move(options), inbox, clock);
  if (!started) FAIL(started.error().text());
  server = std::move(*started);
}

httplib::Client TestSite::client() const {
  httplib::Client client("127.0.0.1", server->port());
  client.set_connection_timeout(5);
  client.set_read_timeout(10);
  return client;
}

httplib::Headers TestSite::token_and(std::string name, std::string value) const {
  httplib::Headers headers = token();
  headers.emplace(std::move(name), std::move(value));
  return headers;
}

nlohmann::json TestSite::get(const std::string& path) {
  auto answer = client().Get(path);
  REQUIRE(answer);
  INFO(path << ": " << answer->body);
  REQUIRE(answer->status == 200);
  CHECK(answer->get_header_value("Content-Type") == "application/json");
  return nlohmann::json::parse(answer->body);
}

int TestSite::post(const std::string& path, const std::string& body) {
  auto answer = client().Post(path, token(), body, "application/json");
  REQUIRE(answer);
  return answer->status;
}

void TestSite::commit(std::vector<hypotheses::Fact> facts) {
  auto stored = store.commit({{1}, std::move(facts), {}, {}});
  if (!stored) FAIL(stored.error().text());
  server->notify(store.last_seq());
}

int TestSite::connected(const std::string& bytes) const {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(server->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t step = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (step <= 0) break;  // the server has said no already
    sent += static_cast<std::size_t>(step);
  }
  return socket;
}

std::string TestSite::raw(const std::string& bytes) const {
  const int socket = connected(bytes);
  shutdown(socket, SHUT_WR);
  std::string answer;
  char buffer[4096];
  pollfd polled{socket, POLLIN, 0};
  while (poll(&polled, 1, 20'000) > 0) {
    const ssize_t got = recv(socket, buffer, sizeof(buffer), 0);
    if (got <= 0) break;
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  close(socket);
  return answer;
}

Session::Session(TestSite& site, const std::string& name) {
  httplib::Params form{{"token", kToken}, {"name", name}, {"next", "/merges/M-1"}};
  auto answer = site.client().Post("/login", form);
  REQUIRE(answer);
  REQUIRE(answer->status == 303);
  const std::string set = answer->get_header_value("Set-Cookie");
  cookie = set.substr(0, set.find(';'));
  auto page = site.client().Get("/", headers());
  REQUIRE(page);
  std::smatch found;
  REQUIRE(
      std::regex_search(page->body, found, std::regex("name=\"csrf\" value=\"([0-9a-f]{64})\"")));
  csrf = found[1];
}

EventClient::EventClient(const TestSite& site, std::string path, const httplib::Headers& headers)
    : client_(site.client()), thread_([this, path = std::move(path), headers] {
        client_.Get(path, headers, [this](const char* bytes, std::size_t count) {
          std::lock_guard lock(mutex_);
          text_.append(bytes, count);
          return !leaving_;
        });
        ended_ = true;
      }) {}

EventClient::~EventClient() {
  leave();
  thread_.join();
}

void EventClient::leave() {
  leaving_ = true;
  client_.stop();
}

std::string EventClient::text() const {
  std::lock_guard lock(mutex_);
  return text_;
}

std::vector<std::int64_t> EventClient::wait_for(std::size_t count, milliseconds longest) {
  std::vector<std::int64_t> ids;
  eventually(
      [&] {
        ids.clear();
        const std::string all = text();
        for (std::size_t at = 0; (at = all.find("id: ", at)) != std::string::npos; at += 4) {
          // Only whole events: their last line has come.
          if (all.find("\n\n", at) == std::string::npos) break;
          ids.push_back(std::stoll(all.substr(at + 4)));
        }
        return ids.size() >= count;
      },
      longest);
  return ids;
}

bool eventually(const std::function<bool()>& holds, milliseconds longest) {
  std::mutex mutex;
  std::condition_variable never;
  const auto until = steady_clock::now() + longest;
  while (!holds()) {
    if (steady_clock::now() > until) return false;
    std::unique_lock lock(mutex);
    never.wait_for(lock, milliseconds(5));
  }
  return true;
}

}  // namespace web

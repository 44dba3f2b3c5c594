// What a broken or hostile client may send.
#include <unistd.h>

#include "web/api/test_site.h"

namespace web {

using std::chrono::seconds;
using std::chrono::steady_clock;

static std::string head(const std::string& line, const std::string& more = {}) {
  return line + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

static bool answered(const std::string& answer, int status) {
  return answer.starts_with("HTTP/1.1 " + std::to_string(status));
}

TEST_CASE("bodies are bounded, whatever they say of themselves") {
  TestSite site;
  const std::string token = "Authorization: Bearer " + kToken + "\r\n";
  const std::string type = "Content-Type: application/json\r\n";
  const std::string path = "POST /api/v1/campaigns/C-1/start";
  CHECK(answered(site.raw(head(path, token + type + "Content-Length: 2000000\r\n") +
                          std::string(2'000'000, ' ')),
                 413));
  // Refused for what it announces, before it is sent.
  CHECK(answered(site.raw(head(path, token + type + "Content-Length: 99999999999\r\n")), 413));
  CHECK(answered(
      site.raw(head(path, token + type + "Content-Length: " + std::string(200, '9') + "\r\n")),
      413));
  CHECK(answered(site.raw(head(path, token + type + "Content-Length: -1\r\n") + "{}"), 400));
  CHECK(answered(
      site.raw(head(path, token + type + "Content-Length: 2\r\nContent-Length: 3\r\n") + "{}x"),
      400));
  CHECK(site.inbox.commands().empty());
  const std::string full = "{}" + std::string((1 << 20) - 2, ' ');
  CHECK(answered(site.raw(head(path, token + type + "Content-Length: 1048576\r\n") + full), 200));
}

TEST_CASE("chunked and packed bodies are refused") {
  TestSite site;
  const std::string token = "Authorization: Bearer " + kToken + "\r\n";
  const std::string path = "POST /api/v1/campaigns/C-1/start";
  CHECK(answered(
      site.raw(head(path, token + "Transfer-Encoding: chunked\r\n") + "2\r\n{}\r\n0\r\n\r\n"),
      400));
  CHECK(answered(
      site.raw(head(path, token + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n") + "{}"),
      400));
  CHECK(answered(
      site.raw(head(path, token + "Content-Encoding: gzip\r\nContent-Length: 2\r\n") + "{}"), 400));
  CHECK(answered(site.raw(head(path, token + "Content-Type: multipart/form-data; boundary=x\r\n"
                                             "Content-Length: 2\r\n") +
                          "{}"),
                 415));
  CHECK(answered(
      site.raw(head(path, token + "Content-Type: text/plain\r\nContent-Length: 2\r\n") + "{}"),
      415));
  CHECK(site.inbox.commands().empty());
}

TEST_CASE("heads are bounded in size") {
  TestSite site;
  const std::string many_lines = [] {
    std::string lines;
    for (int i = 0; i < 20'000; ++i) lines += "X-" + std::to_string(i) + ": y\r\n";
    return lines;
  }();
  CHECK_FALSE(answered(site.raw(head("GET /healthz", many_lines)), 200));
  CHECK_FALSE(
      answered(site.raw(head("GET /healthz", "X: " + std::string(1 << 20, 'y') + "\r\n")), 200));
  CHECK(answered(site.raw(head("GET /" + std::string(4000, 'a'))), 414));
  CHECK(answered(site.raw(head("GET /" + std::string(9000, 'a'))), 414));
  CHECK(answered(site.raw(head("GET /healthz")), 200));
}

TEST_CASE("ranges are ignored") {
  TestSite site;
  std::string ranges = "Range: bytes=0-1";
  for (int i = 0; i < 1000; ++i) ranges += ",0-1";
  const std::string answer = site.raw(head("GET /style.css", ranges + "\r\n"));
  CHECK(answered(answer, 200));
  CHECK(answer.find("multipart/byteranges") == std::string::npos);
}

TEST_CASE("what is no request is answered or dropped, and the next one is served") {
  TestSite site;
  for (const char* bytes :
       {"\r\n\r\n", "x\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        "GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /healthz HTTP/1.1\r\n\r\n",
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nshort"}) {
    const std::string answer = site.raw(bytes);
    INFO(answer);
    CHECK_FALSE(answered(answer, 200));
  }
  CHECK(answered(site.raw(head("GET /healthz")), 200));
}

TEST_CASE("one request a connection: nothing can hide behind it") {
  TestSite site;
  const std::string second = head("GET /api/v1/campaigns");
  const std::string answer = site.raw(
      head("GET /healthz", "Content-Length: " + std::to_string(second.size()) + "\r\n") + second);
  CHECK(answered(answer, 200));
  CHECK(answer.find("HTTP/1.1", 1) == std::string::npos);
  CHECK(answer.find("Connection: close") != std::string::npos);
}

TEST_CASE("paths stay inside the site") {
  TestSite site;
  for (const char* path : {"/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
                           "/hypotheses/..%2f..%2fmerges", "/style.css/../../x",
                           "/hypotheses/H-1%00", "/hypotheses//H-1/x", "//evil.example/"}) {
    INFO(path);
    CHECK(answered(site.raw(head(std::string("GET ") + path)), 404));
  }
}

TEST_CASE("answers carry the headers that keep pages safe") {
  TestSite site;
  for (const char* path : {"/", "/api/v1/campaigns", "/nothing", "/style.css"}) {
    auto answer = site.client().Get(path);
    REQUIRE(answer);
    INFO(path);
    const std::string policy = answer->get_header_value("Content-Security-Policy");
    CHECK(policy.find("default-src 'none'") == 0);
    CHECK(policy.find("unsafe") == std::string::npos);
    CHECK(answer->get_header_value("X-Content-Type-Options") == "nosniff");
    CHECK(answer->get_header_value("X-Frame-Options") == "DENY");
    CHECK_FALSE(answer->get_header_value("Cache-Control").empty());
    CHECK_FALSE(answer->has_header("Access-Control-Allow-Origin"));
  }
}

TEST_CASE("a port that is taken is said to be, and by whom perhaps") {
  TestSite site;
  base::TempDir folder;
  FakeInbox inbox;
  Options options;
  options.port = site.server->port();
  options.state_folder = folder.path();
  options.token = kToken;
  auto second = Server::start(options, inbox, site.clock);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == base::ErrorCode::conflict);
  CHECK(second.error().message.find("port " + std::to_string(options.port) + " is in use") == 0);
  CHECK(second.error().message.find("--port") != std::string::npos);
  // Freed, it can be had at once.
  site.server->stop();
  auto third = Server::start(options, inbox, site.clock);
  if (!third) FAIL(third.error().text());
  CHECK((*third)->url() == "http://127.0.0.1:" + std::to_string(options.port));

  options.host = "no.such.host.invalid";
  options.allow_remote = true;
  auto nowhere = Server::start(options, inbox, site.clock);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error().code == base::ErrorCode::bad_input);
  options.token = "short";
  CHECK_FALSE(Server::start(options, inbox, site.clock));
}

TEST_CASE("stopping does not wait for idle and dripping clients") {
  TestSite site;
  const int idle = site.connected("");
  const int dripping = site.connected("GET / HTTP/1.1\r\nHost: loc");
  EventClient viewer(site, "/api/v1/events");
  REQUIRE(eventually([&] { return site.get("/healthz")["viewers"] == 1; }));
  const auto before = steady_clock::now();
  site.server->stop();
  site.server->stop();  // again is fine
  CHECK(steady_clock::now() - before < seconds(2));
  close(idle);
  close(dripping);
}

}  // namespace web

#include "web/api/access.h"

#include <sodium.h>

#include "web/api/test_site.h"

namespace web {

static Request request_with(std::string method, std::map<std::string, std::string> headers) {
  Request request;
  request.method = std::move(method);
  request.headers = std::move(headers);
  return request;
}

TEST_CASE("loopback names and addresses, and nothing else") {
  for (const char* host : {"localhost", "127.0.0.1", "127.8.9.1", "::1"}) CHECK(is_loopback(host));
  for (const char* host : {"", "0.0.0.0", "10.0.0.1", "127.0.0.1.evil.example", "localhost.evil",
                           "128.0.0.1", "::", "127"}) {
    CHECK_FALSE(is_loopback(host));
  }
}

TEST_CASE("a session ends after its time, and is ended by signing out") {
  REQUIRE(sodium_init() >= 0);
  base::ManualClock clock({1000});
  Access access({kToken, {}, true, 8700}, clock);
  CHECK_FALSE(access.sign_in("wrong", "x"));
  CHECK_FALSE(access.sign_in("", "x"));
  const auto cookie = access.sign_in(kToken, "Ada");
  REQUIRE(cookie);
  CHECK(cookie->find("HttpOnly") != std::string::npos);
  CHECK(cookie->find("SameSite=Strict") != std::string::npos);
  const Request request =
      request_with("GET", {{"cookie", "a=b; " + cookie->substr(0, cookie->find(';'))}});
  const Caller caller = access.caller_of(request);
  CHECK(caller.by_session);
  CHECK(caller.name == "Ada");
  CHECK(Access::csrf_matches(caller, caller.csrf));
  CHECK_FALSE(Access::csrf_matches(caller, ""));
  CHECK_FALSE(Access::csrf_matches({}, ""));
  clock.advance_s(12 * 3600 + 1);
  CHECK_FALSE(access.caller_of(request).authorised);

  const auto again = access.sign_in(kToken, "Ada");
  const Request second = request_with("POST", {{"cookie", again->substr(0, again->find(';'))}});
  CHECK(access.caller_of(second).authorised);
  access.sign_out(second);
  CHECK_FALSE(access.caller_of(second).authorised);
}

TEST_CASE("strangers' names and origins") {
  base::ManualClock clock({1000});
  Access access({kToken, {"bench.example"}, true, 8700}, clock);
  const auto refused = [&](std::string method, std::map<std::string, std::string> headers) {
    return access.refuse_stranger(request_with(std::move(method), std::move(headers))).has_value();
  };
  for (const char* host : {"localhost:8700", "127.0.0.1:9000", "[::1]:8700", "BENCH.example"}) {
    INFO(host);
    CHECK_FALSE(refused("GET", {{"host", host}}));
  }
  for (const char* host :
       {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", ""}) {
    INFO(host);
    CHECK(refused("GET", {{"host", host}}));
  }
  const std::string own = "localhost:8700";
  CHECK_FALSE(refused("POST", {{"host", own}, {"origin", "http://localhost:8700"}}));
  CHECK_FALSE(refused("POST", {{"host", own}}));
  CHECK(refused("POST", {{"host", own}, {"origin", "http://localhost:3000"}}));
  CHECK(refused("POST", {{"host", own}, {"origin", "http://evil.example"}}));
  CHECK(refused("POST", {{"host", own}, {"origin", "null"}}));
  CHECK(refused("POST", {{"host", own}, {"sec-fetch-site", "cross-site"}}));
}

TEST_CASE("a command needs the token") {
  TestSite site;
  auto client = site.client();
  const auto status = [&](const httplib::Headers& headers) {
    auto answer = client.Post("/api/v1/campaigns/C-1/pause", headers, "{}", "application/json");
    REQUIRE(answer);
    return answer->status;
  };
  CHECK(status({}) == 401);
  CHECK(status({{"Authorization", "Bearer wrong-token-of-same-size-xx"}}) == 401);
  CHECK(status({{"Authorization", "Bearer " + kToken + "x"}}) == 401);
  CHECK(status({{"Authorization", kToken}}) == 401);
  CHECK(site.inbox.commands().empty());
  CHECK(status(site.token()) == 200);
  CHECK(site.inbox.commands().size() == 1);
}

TEST_CASE("a session's command needs its CSRF token") {
  TestSite site;
  Session session(site);
  auto client = site.client();
  const auto form = [&](const httplib::Headers& headers, const std::string& csrf) {
    const httplib::Params fields{{"csrf", csrf}, {"commit", sample::kMerged}};
    auto answer = client.Post("/merges/M-1/approve", headers, fields);
    REQUIRE(answer);
    return answer->status;
  };
  CHECK(form(session.headers(), "") == 403);
  CHECK(form(session.headers(), std::string(64, '0')) == 403);
  Session other(site, "Eve");
  CHECK(form(session.headers(), other.csrf) == 403);
  // Without a session the form leads to signing in; the API's token opens no form.
  CHECK(form({}, session.csrf) == 303);
  CHECK(form(site.token(), session.csrf) == 403);
  CHECK(site.inbox.commands().empty());
  CHECK(form(session.headers(), session.csrf) == 303);
  REQUIRE(site.inbox.commands().size() == 1);
  const auto approval = std::get<Approve>(site.inbox.commands()[0]);
  CHECK(approval.commit.hex == sample::kMerged);
  CHECK(approval.who == "Ada");

  auto headers = session.headers();
  const auto api = [&] {
    auto answer = client.Post("/api/v1/campaigns/C-1/pause", headers, "", "application/json");
    REQUIRE(answer);
    return answer->status;
  };
  CHECK(api() == 403);
  headers.emplace("X-CSRF-Token", session.csrf);
  CHECK(api() == 200);
}

TEST_CASE("a page of another name or site is refused") {
  TestSite site;
  auto client = site.client();
  auto rebound = client.Get("/api/v1/campaigns", {{"Host", "evil.example"}});
  REQUIRE(rebound);
  CHECK(rebound->status == 403);
  auto cross =
      client.Post("/api/v1/campaigns/C-1/pause", site.token_and("Origin", "http://evil.example"),
                  "{}", "application/json");
  REQUIRE(cross);
  CHECK(cross->status == 403);
  CHECK(site.inbox.commands().empty());
}

TEST_CASE("signing in leads back, but only to this server") {
  TestSite site;
  auto client = site.client();
  const auto location = [&](const std::string& next) {
    auto answer = client.Post("/login", httplib::Params{{"token", kToken}, {"next", next}});
    REQUIRE(answer);
    REQUIRE(answer->status == 303);
    return answer->get_header_value("Location");
  };
  CHECK(location("/merges/M-1") == "/merges/M-1");
  for (const char* foreign :
       {"//evil.example", "/\\evil.example", "https://evil.example", "", "/x\r\nSet-Cookie: a=b"}) {
    CHECK(location(foreign) == "/");
  }
  auto wrong = client.Post("/login", httplib::Params{{"token", "wrong"}});
  REQUIRE(wrong);
  CHECK(wrong->status == 401);
  CHECK_FALSE(wrong->has_header("Set-Cookie"));
}

TEST_CASE(
    "away from loopback nothing is served without being asked for, and reads need the token") {
  base::TempDir folder;
  FakeInbox inbox;
  const base::SystemClock clock;
  Options options;
  options.host = "0.0.0.0";
  options.port = 0;
  options.state_folder = folder.path();
  options.token = kToken;
  auto refused = Server::start(options, inbox, clock);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::refused);

  Options open;
  open.host = "0.0.0.0";
  open.allow_remote = true;
  TestSite site(open);
  auto client = site.client();
  CHECK(client.Get("/api/v1/campaigns")->status == 401);
  CHECK(client.Get("/api/v1/events")->status == 401);
  CHECK(client.Get("/metrics")->status == 401);
  CHECK(client.Get("/healthz")->status == 200);
  const std::string page = site.raw("GET /hypotheses/H-1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(page.starts_with("HTTP/1.1 303"));
  CHECK(page.find("\r\nLocation: /login?next=%2Fhypotheses%2FH-1\r\n") != std::string::npos);
  CHECK(client.Get("/api/v1/campaigns", site.token())->status == 200);
  Session session(site);
  CHECK(client.Get("/hypotheses/H-1", session.headers())->status == 200);
}

}  // namespace web

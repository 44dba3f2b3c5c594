#include "web/api/site.h"

#include <fmt/format.h>

#include "web/api/pages.h"

namespace web {

namespace {

constexpr int kWaitingCommands = 8;

// The parts that stood for {...}, or nothing when the path has another shape.
std::optional<std::vector<std::string>> match(std::string_view pattern,
                                              const std::vector<std::string>& path) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  for (const std::string& segment : path) {
    if (at >= pattern.size()) return {};
    const std::size_t end = std::min(pattern.find('/', at + 1), pattern.size());
    const std::string_view expected = pattern.substr(at + 1, end - at - 1);
    if (expected.starts_with('{')) {
      parts.push_back(segment);
    } else if (expected != segment) {
      return {};
    }
    at = end;
  }
  // "/" alone has an empty path.
  if (at < pattern.size() && pattern != "/") return {};
  return parts;
}

struct Found {
  const Route* route = nullptr;
  std::vector<std::string> parts;
  std::string allowed;  // the methods of a path that exists, where the method does not fit
};

Found find_route(const Request& request) {
  Found found;
  for (const auto& routes : {api_routes(), page_routes()}) {
    for (const Route& route : routes) {
      auto parts = match(route.pattern, request.path);
      if (!parts) continue;
      if (route.method == request.method) return {&route, std::move(*parts), {}};
      if (!found.allowed.empty()) found.allowed += ", ";
      found.allowed += route.method == "GET" ? "GET, HEAD" : route.method;
    }
  }
  return found;
}

Response failed(const Request& request, const Caller& caller, int status, std::string_view code,
                const std::string& message) {
  if (is_api(request)) return error_response(status, code, message);
  return error_page(request, caller, status, message);
}

// An answer when the guard says no.
std::optional<Response> guard(Site& site, const Route& route, const Call& call) {
  const Caller& caller = call.caller;
  const auto no = [&](int status, std::string_view code, const std::string& message) {
    Response response = failed(call.request, caller, status, code, message);
    if (status == 401 && is_api(call.request)) {
      response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"nightshift\"");
    }
    return response;
  };
  if (route.guard == Guard::open) return {};
  if (route.guard == Guard::read && (site.access->reads_open() || caller.authorised)) return {};
  if (!caller.authorised) {
    if (!is_api(call.request)) return sign_in_first(call.request);
    return no(401, "unauthorized",
              "send \"Authorization: Bearer TOKEN\"; the token is in the daemon's state folder");
  }
  if (route.guard == Guard::read) return {};
  if (route.guard == Guard::form) {
    auto fields = parse_form(call.request.body);
    if (caller.by_session && Access::csrf_matches(caller, fields["csrf"])) return {};
    return no(403, "refused", "this form is out of date; go back, reload the page and try again");
  }
  if (caller.by_session && !Access::csrf_matches(caller, call.request.header("x-csrf-token"))) {
    return no(403, "refused", "a session's command needs its CSRF token in X-CSRF-Token");
  }
  return {};
}

// Refuses what a body is not; the content type also keeps other sites' plain forms out.
std::optional<Response> check_type(const Route& route, const Request& request) {
  if (request.method != "POST" || request.body.empty()) return {};
  const std::string type = request.header("content-type");
  const bool form = !is_api(request) || route.guard == Guard::form;
  const std::string_view expected = form ? "application/x-www-form-urlencoded" : "application/json";
  if (type.substr(0, type.find(';')) == expected) return {};
  return error_response(415, "bad-input",
                        fmt::format("send the body as Content-Type: {}", expected));
}

Response route_request(Site& site, const Request& request) {
  if (auto refusal = site.access->refuse_stranger(request)) return std::move(*refusal);
  Found found = find_route(request);
  Call call{request, std::move(found.parts), site.access->caller_of(request)};
  if (found.route == nullptr && !found.allowed.empty()) {
    Response response = failed(request, call.caller, 405, "method-not-allowed",
                               fmt::format("this path answers to {}", found.allowed));
    response.headers.emplace_back("Allow", found.allowed);
    return response;
  }
  if (found.route == nullptr) {
    return failed(request, call.caller, 404, "not-found", "there is nothing at this address");
  }
  if (auto refusal = check_type(*found.route, request)) return std::move(*refusal);
  if (auto refusal = guard(site, *found.route, call)) return std::move(*refusal);
  return found.route->action(site, call);
}

void harden(Response& response) {
  const auto has = [&](std::string_view name) {
    for (const auto& header : response.headers) {
      if (header.first == name) return true;
    }
    return false;
  };
  auto& headers = response.headers;
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  headers.emplace_back("X-Frame-Options", "DENY");
  // Not "no-referrer": with that a browser says "Origin: null" when it posts our own forms.
  headers.emplace_back("Referrer-Policy", "same-origin");
  headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  headers.emplace_back("Content-Security-Policy",
                       "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
                       "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; "
                       "base-uri 'none'");
  if (!has("Cache-Control")) headers.emplace_back("Cache-Control", "no-store");
}

}  // namespace

bool is_api(const Request& request) {
  return !request.path.empty() &&
         (request.path[0] == "api" || request.path[0] == "healthz" || request.path[0] == "metrics");
}

Response json_response(std::string text, int status) {
  Response response;
  response.status = status;
  response.type = "application/json";
  response.body = std::move(text);
  return response;
}

base::Result<Reply> submit(Site& site, Command command) {
  struct Place {
    std::atomic<int>& waiting;
    int before;
    explicit Place(std::atomic<int>& count) : waiting(count), before(count++) {}
    ~Place() { --waiting; }
  } place(site.counters.waiting_commands);
  if (place.before >= kWaitingCommands) {
    return base::fail(base::ErrorCode::unavailable,
                      "the daemon has not answered the commands before this one; see /healthz");
  }
  ++site.counters.commands;
  return site.inbox.submit(std::move(command));
}

Response answer(Site& site, const Request& request) {
  Response response = route_request(site, request);
  harden(response);
  const auto digit = static_cast<std::size_t>(response.status / 100);
  if (digit < site.counters.answers.size()) ++site.counters.answers[digit];
  return response;
}

}  // namespace web

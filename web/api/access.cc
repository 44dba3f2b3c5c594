#include "web/api/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>

namespace web {

namespace {

constexpr double kSession_s = 12 * 3600;
constexpr std::size_t kSessions = 64;

std::string random_text() {
  std::array<unsigned char, 32> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  std::array<char, 65> text{};
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  return text.data();
}

// "[::1]:8700" is "::1"; "localhost:80" is "localhost".
std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  in_addr address{};
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 &&
         (ntohl(address.s_addr) >> 24) == 127;
}

Access::Access(AccessOptions options, const base::Clock& clock)
    : options_(std::move(options)), clock_(clock), token_(digest_of(options_.token)) {}

Access::Digest Access::digest_of(std::string_view text) {
  Digest digest{};
  crypto_generichash(digest.data(), digest.size(),
                     reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr, 0);
  return digest;
}

// Digests are compared, in constant time, so that the token's length stays unknown too.
bool Access::token_matches(std::string_view token) const {
  const Digest shown = digest_of(token);
  return sodium_memcmp(shown.data(), token_.data(), token_.size()) == 0;
}

bool Access::host_allowed(std::string_view host) const {
  const std::string name = in_lower_case(host_name(host));
  if (is_loopback(name)) return true;
  return std::any_of(options_.hosts.begin(), options_.hosts.end(),
                     [&](const std::string& allowed) { return in_lower_case(allowed) == name; });
}

// A page on evil.example can make its name point to 127.0.0.1 and then read us as "same origin";
// the Host header still says evil.example. A form on another site reaches us under our own name;
// its Origin says where it came from. Another port of this host is another origin too.
std::optional<Response> Access::refuse_stranger(const Request& request) const {
  const std::string host = request.header("host");
  if (host.empty() || !host_allowed(host)) {
    return error_response(
        403, "refused",
        fmt::format("this server does not answer to the name \"{}\"; use localhost "
                    "or allow the name in the daemon's options",
                    host));
  }
  if (request.method == "GET") return {};
  const std::string origin = in_lower_case(request.header("origin"));
  const std::string own = in_lower_case(host);
  const bool foreign_origin =
      !origin.empty() && origin != "http://" + own && origin != "https://" + own;
  const std::string site = request.header("sec-fetch-site");
  const bool foreign_site = !site.empty() && site != "same-origin" && site != "none";
  if (foreign_origin || foreign_site) {
    return error_response(403, "refused", "a page of another site may not send commands here");
  }
  return {};
}

std::string Access::cookie_of(const Request& request) const {
  const std::string name = fmt::format("nightshift_{}=", options_.port);
  const std::string cookies = request.header("cookie");
  for (std::size_t at = 0; at < cookies.size();) {
    const std::size_t end = std::min(cookies.find(';', at), cookies.size());
    std::string_view cookie = std::string_view(cookies).substr(at, end - at);
    cookie.remove_prefix(std::min(cookie.find_first_not_of(' '), cookie.size()));
    if (cookie.starts_with(name)) return std::string(cookie.substr(name.size()));
    at = end + 1;
  }
  return {};
}

Caller Access::caller_of(const Request& request) const {
  constexpr std::string_view kBearer = "bearer ";
  const std::string authorization = request.header("authorization");
  if (in_lower_case(authorization.substr(0, kBearer.size())) == kBearer) {
    return {.authorised = token_matches(std::string_view(authorization).substr(kBearer.size())),
            .by_session = false,
            .name = {},
            .csrf = {}};
  }
  const std::string cookie = cookie_of(request);
  if (cookie.empty()) return {};
  std::lock_guard lock(mutex_);
  const auto session = sessions_.find(digest_of(cookie));
  if (session == sessions_.end() || session->second.expires_s < clock_.monotonic_s()) return {};
  return {.authorised = true,
          .by_session = true,
          .name = session->second.name,
          .csrf = session->second.csrf};
}

bool Access::csrf_matches(const Caller& caller, std::string_view shown) {
  return !caller.csrf.empty() && shown.size() == caller.csrf.size() &&
         sodium_memcmp(shown.data(), caller.csrf.data(), shown.size()) == 0;
}

std::optional<std::string> Access::sign_in(std::string_view token, std::string name) {
  if (!token_matches(token)) return {};
  const std::string cookie = random_text();
  {
    std::lock_guard lock(mutex_);
    const double now_s = clock_.monotonic_s();
    std::erase_if(sessions_, [&](const auto& entry) { return entry.second.expires_s < now_s; });
    if (sessions_.size() >= kSessions) {
      sessions_.erase(std::min_element(
          sessions_.begin(), sessions_.end(),
          [](const auto& a, const auto& b) { return a.second.expires_s < b.second.expires_s; }));
    }
    sessions_[digest_of(cookie)] = {std::move(name), random_text(), now_s + kSession_s};
  }
  return fmt::format("nightshift_{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}",
                     options_.port, cookie, static_cast<int>(kSession_s));
}

std::string Access::sign_out(const Request& request) {
  const std::string cookie = cookie_of(request);
  {
    std::lock_guard lock(mutex_);
    sessions_.erase(digest_of(cookie));
  }
  return fmt::format("nightshift_{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", options_.port);
}

}  // namespace web

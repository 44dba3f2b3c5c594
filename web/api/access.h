// Who may do what: host names (against DNS rebinding), origins, the token, sessions with their CSRF
// tokens (docs/security.md).
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "web/api/http.h"

namespace web {

// "127.0.0.1", "::1", "localhost" and the rest of 127/8.
bool is_loopback(std::string_view host);

struct AccessOptions {
  std::string token;               // never empty
  std::vector<std::string> hosts;  // names under which the daemon is reached, besides loopback's
  bool reads_open = true;          // reads need no token
  int port = 0;                    // names the cookie: cookies are shared by the ports of a host
};

// Who sent a request.
struct Caller {
  bool authorised = false;
  bool by_session = false;
  std::string name;  // what the person called themselves when signing in; may be empty
  std::string csrf;  // of the session
};

class Access {
 public:
  Access(AccessOptions options, const base::Clock& clock);

  // An answer (403) when the request was not meant for this server, or comes from another site's
  // page.
  std::optional<Response> refuse_stranger(const Request& request) const;

  bool reads_open() const { return options_.reads_open; }
  Caller caller_of(const Request& request) const;
  // The CSRF token that a session must show with each write.
  static bool csrf_matches(const Caller& caller, std::string_view shown);

  // The value of a Set-Cookie header, or nothing for a wrong token.
  std::optional<std::string> sign_in(std::string_view token, std::string name);
  std::string sign_out(const Request& request);  // likewise, clears the cookie

 private:
  struct Session {
    std::string name, csrf;
    double expires_s = 0;
  };
  using Digest = std::array<unsigned char, 32>;

  static Digest digest_of(std::string_view text);
  bool token_matches(std::string_view token) const;
  bool host_allowed(std::string_view host) const;
  std::string cookie_of(const Request& request) const;

  const AccessOptions options_;
  const base::Clock& clock_;
  const Digest token_;
  mutable std::mutex mutex_;
  // Guarded by mutex_. By the digest of the cookie: a look-up then tells nothing by its time.
  std::map<Digest, Session> sessions_;
};

}  // namespace web

// The one place that speaks HTTP. It takes connections, bounds them (docs/security.md), hands each
// request to one handler as a plain value, and writes the answer. One request a connection: that
// leaves nothing idle to wait for at the end, and nothing for a smuggled second request to hide in.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "web/api/http.h"

namespace web {

struct ListenerOptions {
  std::string host = "127.0.0.1";
  int port = 0;      // 0 = any free one
  int threads = 24;  // each live stream holds one
  std::size_t body_bytes = 1 << 20;
};

using Handler = std::function<Response(const Request&)>;

class Listener {
 public:
  // The handler is called from many threads at once. An exception in it becomes a 500.
  // Errors: conflict when the port is taken, bad_input for a host that is none of this machine's.
  static base::Result<std::unique_ptr<Listener>> start(const ListenerOptions& options,
                                                       Handler handler);
  ~Listener();

  int port() const;
  // Takes no more connections and ends those that are open; returns when no handler runs any more.
  void stop();

  struct Impl;

 private:
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace web

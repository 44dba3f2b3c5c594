// A request and its reply as the routes see them. Sockets, time-outs and framing are listener.h's.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace serving {

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // "/v1/completions", without the query
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers = {};  // besides type and length
};

// Where a route answers: send() once, or begin_stream() and then write() as often as it likes.
class Reply {
 public:
  virtual ~Reply() = default;
  virtual void send(const HttpResponse& response) = 0;
  virtual bool begin_stream(std::string_view type) = 0;
  virtual bool write(std::string_view text) = 0;  // false: the client has gone, or takes nothing
  virtual bool connected() = 0;                   // false once the client has gone
};

using Handler = std::function<void(const HttpRequest&, Reply&)>;

}  // namespace serving

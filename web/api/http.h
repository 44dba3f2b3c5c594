// A request and its response as plain values: what routes see. Only listener.cc knows cpp-httplib.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace web {

struct Request {
  std::string method;                          // "GET" (also for HEAD) or another
  bool head = false;                           // only the head of the answer is sent
  std::string target;                          // as sent: path and query
  std::vector<std::string> path;               // decoded segments: {"api", "v1", "merges", "M-1"}
  std::map<std::string, std::string> query;    // decoded; the first of each name
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string header(std::string_view name) const {  // empty when absent
    auto found = headers.find(std::string(name));
    return found == headers.end() ? std::string() : found->second;
  }
};

// Where a live stream writes. False once the client has gone.
struct Sink {
  std::function<bool(std::string_view)> write;
  std::function<bool()> connected;
};

struct Response {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // If set, called again and again instead of sending `body`, until it returns false.
  std::function<bool(Sink&)> stream;
  // Called once when the stream has ended, however it did.
  std::function<void()> stream_ended;

  Response&& with(std::string name, std::string value) && {
    headers.emplace_back(std::move(name), std::move(value));
    return std::move(*this);
  }
};

// 400, 403, 404, 409, 503 or 500.
int http_status(base::ErrorCode code);

// {"error": {"code": "not-found", "message": "..."}}
Response error_response(int status, std::string_view code, std::string_view message);
Response error_response(const base::Error& error);

// "a=1&b=%20" as it comes from a form or a query; the first of each name, at most 64 names.
std::map<std::string, std::string> parse_form(std::string_view text);
std::string percent_decode(std::string_view text, bool plus_is_space);
std::string percent_encode(std::string_view text);  // for one segment or one value

}  // namespace web

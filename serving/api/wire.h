// HTTP/1.1 as bytes: the head of a request read strictly, the head of a response written.
// RFC 9112, without what an API behind one address has no use for: no chunked requests, no folded
// lines, one request a connection.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "serving/api/api_error.h"
#include "serving/api/http.h"

namespace serving {

constexpr std::size_t kHeadBytes = 16 << 10;

struct RequestHead {
  std::string method, path;
  bool chunked_reply = true;  // HTTP/1.1; an older client reads to the end of the connection
  bool expects_continue = false;
  std::size_t body_bytes = 0;
};

// Where the head ends (behind its empty line), or npos while it has not.
std::size_t end_of_head(std::string_view bytes);

// The error is what to answer with.
ApiResult<RequestHead> parse_head(std::string_view head, std::size_t body_limit_bytes);

std::string response_head(const HttpResponse& response);
std::string stream_head(std::string_view type, bool chunked);
std::string chunk(std::string_view text);
constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace serving

#include "serving/api/wire.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace serving {
namespace {

constexpr std::size_t kTargetBytes = 2048;

bool is_token_char(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != 0 &&
          std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos);
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7f; });
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The next line without its line break; a bare LF ends one too (RFC 9112, 2.2).
std::string_view take_line(std::string_view& rest) {
  const auto end = std::min(rest.find('\n'), rest.size());
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

ApiResult<RequestHead> parse_request_line(std::string_view line) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return refuse(400, "the request line is not \"METHOD /path HTTP/1.1\"");
  }
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    return refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
  }
  if (!is_token(method) || !target.starts_with('/') || target.find(' ') != std::string_view::npos ||
      has_control(target)) {
    return refuse(400, "the request line is not \"METHOD /path HTTP/1.1\"");
  }
  if (target.size() > kTargetBytes) return refuse(414, "the path is longer than 2048 bytes");
  RequestHead head;
  head.method = method;
  head.path = target.substr(0, target.find('?'));
  head.chunked_reply = version == "HTTP/1.1";
  return head;
}

ApiResult<std::size_t> parse_length(std::string_view text, std::size_t limit_bytes) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(),
                                                   [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return refuse(400, "Content-Length is no number");
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || length > limit_bytes) {
    return refuse(413,
                  "the body is larger than the limit of " + std::to_string(limit_bytes) + " bytes");
  }
  return length;
}

}  // namespace

std::size_t end_of_head(std::string_view bytes) {
  const auto crlf = bytes.find("\n\r\n");
  const auto lf = bytes.find("\n\n");
  if (crlf < lf) return crlf + 3;
  return lf == std::string_view::npos ? lf : lf + 2;
}

ApiResult<RequestHead> parse_head(std::string_view text, std::size_t body_limit_bytes) {
  auto head = parse_request_line(take_line(text));
  if (!head) return head;
  std::optional<std::size_t> length;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) break;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) || has_control(line)) {
      return refuse(400, "a header line is not \"Name: value\"");
    }
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "content-length") {
      if (length) return refuse(400, "Content-Length is given twice");
      const auto parsed = parse_length(value, body_limit_bytes);
      if (!parsed) return tl::unexpected<ApiError>(parsed.error());
      length = *parsed;
    } else if (name == "transfer-encoding") {
      return refuse(411, "send the body with Content-Length, not Transfer-Encoding");
    } else if (name == "content-encoding" && lower(value) != "identity") {
      return refuse(415, "send the body plain, without Content-Encoding");
    } else if (name == "expect") {
      if (lower(value) != "100-continue") return refuse(417, "only Expect: 100-continue is known");
      head->expects_continue = true;
    }
  }
  head->body_bytes = length.value_or(0);
  return head;
}

namespace {

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

std::string status_line(int status) {
  return "HTTP/1.1 " + std::to_string(status) + " " + std::string(reason(status)) + "\r\n";
}

}  // namespace

std::string response_head(const HttpResponse& response) {
  std::string head = status_line(response.status);
  head += "Content-Type: " + response.type + "\r\n";
  head += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  for (const auto& [name, value] : response.headers) head += name + ": " + value + "\r\n";
  return head + "Connection: close\r\n\r\n";
}

std::string stream_head(std::string_view type, bool chunked) {
  std::string head = status_line(200) + "Content-Type: " + std::string(type) + "\r\n";
  head += "Cache-Control: no-cache\r\n";
  if (chunked) head += "Transfer-Encoding: chunked\r\n";
  return head + "Connection: close\r\n\r\n";
}

std::string chunk(std::string_view text) {
  char size[16];
  const auto [end, error] = std::to_chars(size, size + sizeof(size), text.size(), 16);
  std::string out(size, end);
  out += "\r\n";
  out += text;
  out += "\r\n";
  return out;
}

}  // namespace serving

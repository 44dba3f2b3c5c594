#include "serving/api/wire.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

namespace serving {
namespace {

int head_status(const std::string& head) {
  const auto parsed = parse_head(head, 1000);
  return parsed ? 200 : parsed.error().status;
}

std::string with(const std::string& header) { return "POST /a HTTP/1.1\r\n" + header + "\r\n\r\n"; }

}  // namespace

TEST_CASE("a head is read with its path, length and version") {
  const auto head = parse_head(
      "POST /v1/x?y=1 HTTP/1.1\r\nhost: a\r\nCONTENT-LENGTH:  12 \r\nExpect: 100-Continue\r\n\r\n",
      1000);
  REQUIRE(head);
  CHECK(head->method == "POST");
  CHECK(head->path == "/v1/x");
  CHECK(head->body_bytes == 12);
  CHECK(head->expects_continue);
  CHECK(head->chunked_reply);
  CHECK_FALSE(parse_head("GET / HTTP/1.0\n\n", 0)->chunked_reply);
}

TEST_CASE("heads that are refused, and how") {
  const std::vector<std::pair<std::string, int>> cases = {
      {"GET /\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\n\r\n", 400},
      {"G(T / HTTP/1.1\r\n\r\n", 400},
      {"GET a HTTP/1.1\r\n\r\n", 400},
      {std::string("GET /\0 HTTP/1.1\r\n\r\n", 20), 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET /" + std::string(3000, 'a') + " HTTP/1.1\r\n\r\n", 414},
      {with("no colon"), 400},
      {with(" folded: line"), 400},
      {with("bad name: x"), 400},
      {with("a: b\x01"), 400},
      {with("Content-Length: 1\r\nContent-Length: 1"), 400},
      {with("Content-Length: -1"), 400},
      {with("Content-Length: +1"), 400},
      {with("Content-Length: 0x1"), 400},
      {with("Content-Length:"), 400},
      {with("Content-Length: 1001"), 413},
      {with("Content-Length: 99999999999999999999999"), 413},
      {with("Transfer-Encoding: chunked"), 411},
      {with("Content-Encoding: gzip"), 415},
      {with("Expect: tea"), 417},
      {with("Content-Length: 1000"), 200},
      {with("Content-Encoding: identity"), 200},
  };
  for (const auto& [head, status] : cases) {
    INFO(head);
    CHECK(head_status(head) == status);
  }
}

TEST_CASE("where a head ends") {
  CHECK(end_of_head("GET / HTTP/1.1\r\n") == std::string_view::npos);
  CHECK(end_of_head("A\r\n\r\nB\n\n") == 5);
  CHECK(end_of_head("A\n\nB\r\n\r\n") == 3);
  CHECK(end_of_head("A\r\n\nB") == 4);
}

TEST_CASE("a chunk says its size in hexadecimal") {
  CHECK(chunk("0123456789abcdef!") == "11\r\n0123456789abcdef!\r\n");
}

}  // namespace serving

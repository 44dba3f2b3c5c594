#include "web/api/http.h"

#include <nlohmann/json.hpp>

#include "hypotheses/json.h"

namespace web {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view error_word(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::bad_input:
      return "bad-input";
    case base::ErrorCode::not_found:
      return "not-found";
    case base::ErrorCode::conflict:
      return "conflict";
    case base::ErrorCode::refused:
      return "refused";
    case base::ErrorCode::unavailable:
      return "unavailable";
    case base::ErrorCode::timeout:
      return "timeout";
    case base::ErrorCode::io:
      return "io";
    case base::ErrorCode::corrupt:
      return "corrupt";
    case base::ErrorCode::bug:
      return "bug";
  }
  return "bug";
}

}  // namespace

int http_status(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::bad_input:
      return 400;
    case base::ErrorCode::refused:
      return 403;
    case base::ErrorCode::not_found:
      return 404;
    case base::ErrorCode::conflict:
      return 409;
    case base::ErrorCode::unavailable:
    case base::ErrorCode::timeout:
      return 503;
    case base::ErrorCode::io:
    case base::ErrorCode::corrupt:
    case base::ErrorCode::bug:
      return 500;
  }
  return 500;
}

Response error_response(int status, std::string_view code, std::string_view message) {
  const nlohmann::json body = {{"error", {{"code", code}, {"message", message}}}};
  return {.status = status,
          .type = "application/json",
          .body = hypotheses::dump(body) + "\n",
          .headers = {},
          .stream = {},
          .stream_ended = {}};
}

Response error_response(const base::Error& error) {
  return error_response(http_status(error.code), error_word(error.code), error.text());
}

std::string percent_decode(std::string_view text, bool plus_is_space) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      plain += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      plain += text[i] == '+' && plus_is_space ? ' ' : text[i];
    }
  }
  return plain;
}

std::string percent_encode(std::string_view text) {
  static constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string safe;
  for (char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      safe += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      safe += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return safe;
}

std::map<std::string, std::string> parse_form(std::string_view text) {
  std::map<std::string, std::string> fields;
  while (!text.empty() && fields.size() < 64) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view field = text.substr(0, end);
    const std::size_t equals = std::min(field.find('='), field.size());
    if (!field.empty()) {
      fields.emplace(percent_decode(field.substr(0, equals), true),
                     equals < field.size() ? percent_decode(field.substr(equals + 1), true) : "");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return fields;
}

}  // namespace web

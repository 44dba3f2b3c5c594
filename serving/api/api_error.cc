#include "serving/api/api_error.h"

#include <nlohmann/json.hpp>

namespace serving {
namespace {

const char* type_of(int status) {
  if (status == 503) return "overloaded_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_input:
    case ErrorCode::too_large:
      return 400;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::overloaded:
    case ErrorCode::unavailable:
      return 503;
    case ErrorCode::io:
      break;
  }
  return 500;
}

}  // namespace

ApiError api_error(const Error& error) { return {status_of(error.code), error.message}; }

std::string error_body(const ApiError& error) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::json() : nlohmann::json(text);
  };
  const nlohmann::json body = {{"error",
                                {{"message", error.message},
                                 {"type", type_of(error.status)},
                                 {"param", or_null(error.param)},
                                 {"code", or_null(error.code)}}}};
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

HttpResponse error_response(const ApiError& error) {
  HttpResponse response{.status = error.status, .body = error_body(error)};
  if (error.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

}  // namespace serving

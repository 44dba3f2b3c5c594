// Errors in the shape of OpenAI's API: {"error": {"message", "type", "param", "code"}}.
#pragma once

#include <string>

#include "serving/api/http.h"
#include "serving/core/result.h"

namespace serving {

struct ApiError {
  int status = 400;
  std::string message;
  std::string param = {};  // the field that is wrong; empty: null
  std::string code = {};   // for programs; empty: null
};

template <class T>
using ApiResult = tl::expected<T, ApiError>;

inline tl::unexpected<ApiError> refuse(int status, std::string message, std::string param = {},
                                       std::string code = {}) {
  return tl::unexpected<ApiError>(
      ApiError{status, std::move(message), std::move(param), std::move(code)});
}

ApiError api_error(const Error& error);              // of the engine
std::string error_body(const ApiError& error);       // JSON
HttpResponse error_response(const ApiError& error);  // 503 says when to try again

}  // namespace serving

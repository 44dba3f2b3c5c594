// The result of anything that can fail: tl::expected with an Error that a person can act on.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace base {

enum class ErrorCode {
  bad_input,    // the caller or a file is wrong; fix it and try again
  not_found,    // a file, ref, row or program that should exist does not
  conflict,     // somebody else holds it, or it changed meanwhile
  refused,      // a policy or a limit says no
  unavailable,  // a service, machine or sandbox cannot be had now
  timeout,
  io,       // the operating system failed us: disk full, read-only, permissions
  corrupt,  // stored bytes are not what they should be
  bug,      // our own mistake
};

// Says what was expected, what was found, where, and what to do.
struct Error {
  ErrorCode code = ErrorCode::bug;
  std::string message;
  std::string context;  // where: a file and line, an id, a command; may be empty

  std::string text() const { return context.empty() ? message : context + ": " + message; }
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string context = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(context)});
}

}  // namespace base

// Evaluates a Result; returns its error from the enclosing function.
#define NS_TRY(expression)                                                  \
  do {                                                                      \
    if (auto ns_status = (expression); !ns_status)                          \
      return ::tl::unexpected<::base::Error>(std::move(ns_status.error())); \
  } while (false)

// Declares `name` with the value of a Result, or returns its error.
#define NS_ASSIGN(name, expression)                                                             \
  auto name##_result = (expression);                                                            \
  if (!name##_result) return ::tl::unexpected<::base::Error>(std::move(name##_result.error())); \
  auto name = std::move(*name##_result)

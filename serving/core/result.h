// The result of anything that can fail: tl::expected with an Error that a person can act on.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace serving {

enum class ErrorCode {
  bad_input,    // the caller or a file is wrong; fix it and try again
  not_found,    // a file or a tensor that should exist does not
  too_large,    // beyond a stated limit
  overloaded,   // no room now; try again later
  unavailable,  // the engine is stopping, or the machine lacks what is needed
  io,           // the operating system failed us
};

// Says what was expected, what was found, where, and what to do.
struct Error {
  ErrorCode code = ErrorCode::bad_input;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace serving

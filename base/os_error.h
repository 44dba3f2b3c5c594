// Errors of the operating system, said so that a person can act on them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

// `error` is an errno; `doing` completes "could not ...": "write", "create the folder". The context
// is the path. ENOENT becomes not_found, everything else io.
Error os_error(int error, std::string_view doing, std::string path);

inline tl::unexpected<Error> os_fail(int error, std::string_view doing, std::string path) {
  return tl::unexpected<Error>(os_error(error, doing, std::move(path)));
}

}  // namespace base

// One daemon a state folder: an exclusive lock that the kernel gives back when its holder dies,
// also by kill -9.
#pragma once

#include <filesystem>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace base {

class LockFile {
 public:
  // Takes `folder`/lock at once or fails with `conflict`, naming the holder's pid and start.
  // `now` is written into the file as the start.
  static Result<LockFile> acquire(const std::filesystem::path& folder, Instant now);

  LockFile(LockFile&&) noexcept = default;
  LockFile& operator=(LockFile&&) noexcept = default;

 private:
  explicit LockFile(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;  // holds the lock; the file stays, since removing it would let two holders in
};

}  // namespace base

#include "base/lock_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>

#include "base/files.h"
#include "base/os_error.h"

namespace base {

Result<LockFile> LockFile::acquire(const std::filesystem::path& folder, Instant now) {
  NS_TRY(ensure_folder(folder));
  std::filesystem::path path = folder / "lock";
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return os_fail(errno, "open the lock", path);
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return os_fail(errno, "lock", path);
    std::string holder = read_file(path, 4096).value_or("");
    if (holder.empty()) holder = "another process";
    while (holder.ends_with('\n')) holder.pop_back();
    return fail(ErrorCode::conflict,
                fmt::format("the state folder is in use by {}; stop it, or choose another folder "
                            "with --state",
                            holder),
                folder);
  }
  std::string text = fmt::format("process {}, started {}\n", ::getpid(), to_text(now));
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return os_fail(errno, "write the lock", path);
  }
  return LockFile(std::move(fd));
}

}  // namespace base

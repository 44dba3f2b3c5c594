#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/fd.h"
#include "base/os_error.h"

namespace base {
namespace fs = std::filesystem;
namespace {

Status write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return os_fail(errno, "write", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status sync_folder(const fs::path& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return os_fail(errno, "open the folder", folder);
  // Some file systems cannot sync a folder and say so with EINVAL; then there is nothing to do.
  if (::fsync(fd.get()) != 0 && errno != EINVAL) return os_fail(errno, "sync the folder", folder);
  return {};
}

// Two writers of one path (threads or processes) must not share their half-written file.
fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  fs::path result = path;
  result += fmt::format(".{}-{}.tmp", ::getpid(), counter.fetch_add(1));
  return result;
}

Status write_new_file(const fs::path& path, std::string_view bytes, Durability durability) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return os_fail(errno, "create the file", path);
  NS_TRY(write_all(fd.get(), bytes, path));
  if (durability == Durability::synced && ::fsync(fd.get()) != 0) {
    return os_fail(errno, "sync", path);
  }
  return {};
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::int64_t limit_bytes) {
  // O_NONBLOCK: opening a FIFO that nobody writes to must not hang.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return os_fail(errno, "open", path);
  std::string bytes;
  char chunk[1 << 16];
  for (;;) {
    ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return os_fail(errno, "read", path);
    if (n == 0) return bytes;
    bytes.append(chunk, static_cast<std::size_t>(n));
    if (static_cast<std::int64_t>(bytes.size()) > limit_bytes) {
      return fail(
          ErrorCode::refused,
          fmt::format("the file has more than the {} bytes that are read at most", limit_bytes),
          path);
    }
  }
}

Status write_file_atomically(const fs::path& path, std::string_view bytes, Durability durability) {
  fs::path temporary = temporary_beside(path);
  if (auto status = write_new_file(temporary, bytes, durability); !status) {
    ::unlink(temporary.c_str());
    return status;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    int error = errno;
    ::unlink(temporary.c_str());
    return os_fail(error, "replace the file", path);
  }
  if (durability == Durability::fast) return {};
  return sync_folder(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

Status ensure_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return os_fail(error.value(), "create the folder", path);
  if (!fs::is_directory(path, error)) return os_fail(ENOTDIR, "create the folder", path);
  return {};
}

Status remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return {};
  // A folder without write permission keeps its entries: open them up, then once more.
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
       it.increment(error)) {
    if (!it->is_symlink(error) && it->is_directory(error)) ::chmod(it->path().c_str(), 0700);
  }
  ::chmod(path.c_str(), 0700);
  fs::remove_all(path, error);
  if (error) return os_fail(error.value(), "remove", path);
  return {};
}

TempDir::TempDir() : TempDir(fs::temp_directory_path()) {}

TempDir::TempDir(const fs::path& within) {
  std::string pattern = (within / "nightshift-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    std::perror(("could not make a temporary folder " + pattern).c_str());
    std::abort();
  }
  path_ = fs::canonical(pattern);
}

TempDir::~TempDir() { (void)remove_tree(path_); }

}  // namespace base

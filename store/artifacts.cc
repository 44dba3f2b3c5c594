#include "store/artifacts.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/fd.h"
#include "base/files.h"

namespace store {

namespace {

tl::unexpected<base::Error> bad_name(std::string_view relative, std::string_view why) {
  return base::fail(
      base::ErrorCode::bad_input,
      fmt::format("expected the name of an artifact such as E-7/0-base/stdout: {}", why),
      std::string(relative));
}

base::Result<std::vector<std::string>> parts_of(std::string_view relative) {
  if (relative.size() > 1024) return bad_name(relative.substr(0, 64), "it is too long");
  if (relative.find('\0') != std::string::npos) return bad_name("(binary)", "it holds a NUL");
  if (relative.find('\\') != std::string::npos) return bad_name(relative, "it holds a backslash");
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= relative.size();) {
    auto end = std::min(relative.find('/', start), relative.size());
    std::string part(relative.substr(start, end - start));
    if (part.empty()) return bad_name(relative, "it is absolute or has an empty part");
    if (part == "." || part == "..") return bad_name(relative, "it has a part . or ..");
    parts.push_back(std::move(part));
    start = end + 1;
  }
  return parts;
}

tl::unexpected<base::Error> unreadable(std::string_view relative) {
  if (errno == ELOOP || errno == ENOTDIR) {
    return bad_name(relative, "it leads through a symbolic link or a file");
  }
  auto code = errno == ENOENT ? base::ErrorCode::not_found : base::ErrorCode::io;
  return base::fail(code, fmt::format("the artifact cannot be read ({})", std::strerror(errno)),
                    std::string(relative));
}

// Opened part by part from the folder, each without following links: no check that could be outrun.
base::Result<base::Fd> open_below(const std::filesystem::path& folder,
                                  const std::vector<std::string>& parts,
                                  std::string_view relative) {
  base::Fd at(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = 0; at && i + 1 < parts.size(); ++i) {
    at = base::Fd(
        ::openat(at.get(), parts[i].c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!at) return unreadable(relative);
  base::Fd file(::openat(at.get(), parts.back().c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return unreadable(relative);
  return file;
}

base::Result<std::string> read_bytes(int descriptor, std::int64_t offset, std::int64_t count,
                                     std::string_view relative) {
  std::string bytes(static_cast<std::size_t>(count), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    auto got = ::pread(descriptor, bytes.data() + filled, bytes.size() - filled,
                       offset + static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(relative);
    if (got == 0) break;  // it was cut meanwhile
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

base::Result<Artifacts> Artifacts::open(const std::filesystem::path& state) {
  std::error_code error;
  auto folder = std::filesystem::absolute(state, error) / "artifacts";
  NS_TRY(base::ensure_folder(folder));
  return Artifacts(std::move(folder));
}

base::Result<std::filesystem::path> Artifacts::path_of(std::string_view relative) const {
  NS_ASSIGN(parts, parts_of(relative));
  std::filesystem::path path = folder_;
  for (const auto& part : parts) {
    path /= part;
    std::error_code ignored;
    if (std::filesystem::is_symlink(path, ignored)) {
      return bad_name(relative, "it leads through a symbolic link");
    }
  }
  return path;
}

base::Result<Excerpt> Artifacts::read(std::string_view relative, std::int64_t offset,
                                      std::int64_t limit_bytes) const {
  NS_ASSIGN(parts, parts_of(relative));
  NS_ASSIGN(file, open_below(folder_, parts, relative));
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) return unreadable(relative);
  if (!S_ISREG(status.st_mode)) {
    return base::fail(base::ErrorCode::not_found, "expected a regular file, found something else",
                      std::string(relative));
  }
  Excerpt excerpt;
  excerpt.file_bytes = status.st_size;
  excerpt.offset = offset < 0 ? std::max<std::int64_t>(0, status.st_size + offset)
                              : std::min<std::int64_t>(offset, status.st_size);
  auto count = std::clamp<std::int64_t>(limit_bytes, 0, status.st_size - excerpt.offset);
  NS_ASSIGN(bytes, read_bytes(file.get(), excerpt.offset, count, relative));
  excerpt.bytes = std::move(bytes);
  return excerpt;
}

}  // namespace store

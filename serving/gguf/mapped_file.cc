#include "serving/gguf/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace serving::gguf {
namespace {

struct Descriptor {
  int number;
  explicit Descriptor(int n) : number(n) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

tl::unexpected<Error> os_failure(const std::string& path, const char* what) {
  const ErrorCode code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::io;
  return fail(code, path + ": " + what + ": " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<MappedFile>> MappedFile::open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0) return os_failure(path, "cannot be opened");
  struct stat status {};
  if (::fstat(file.number, &status) != 0) return os_failure(path, "cannot be examined");
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::bad_input, path + ": is not a regular file");
  if (status.st_size == 0) return fail(ErrorCode::bad_input, path + ": is empty");
  const auto size = std::size_t(status.st_size);
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (start == MAP_FAILED) return os_failure(path, "cannot be mapped");
  return std::unique_ptr<MappedFile>(new MappedFile({static_cast<const std::byte*>(start), size}));
}

MappedFile::~MappedFile() { ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

}  // namespace serving::gguf

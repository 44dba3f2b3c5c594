#include "base/os_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace base {
namespace {

std::string_view advice(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "give the user that runs Nightshift access to it, or choose another folder";
    case ENOSPC:
      return "the disk is full: free space or move the state folder to another disk";
    case EDQUOT:
      return "the disk quota is used up: free space or ask for more";
    case EROFS:
      return "the file system is mounted read-only: remount it or choose another folder";
    case ENOENT:
      return "check the path";
    case ENOTDIR:
      return "a part of the path is a file: move that file away or choose another folder";
    case EMFILE:
    case ENFILE:
      return "too many open files: raise the limit (ulimit -n)";
    case EAGAIN:
    case ENOMEM:
      return "the machine is out of processes or memory: end something or raise its limits";
    default:
      return "";
  }
}

}  // namespace

Error os_error(int error, std::string_view doing, std::string path) {
  std::string message = fmt::format("could not {}: {}", doing, std::strerror(error));
  if (auto hint = advice(error); !hint.empty()) message += fmt::format(" ({})", hint);
  return {error == ENOENT ? ErrorCode::not_found : ErrorCode::io, std::move(message),
          std::move(path)};
}

}  // namespace base

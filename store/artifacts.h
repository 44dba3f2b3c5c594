// The files that experiments left: `artifacts/` in the state folder. Names come from requests and
// from foreign programs; none of them reaches a file outside, nor one through a symbolic link.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace store {

// Part of a file.
struct Excerpt {
  std::string bytes;
  std::int64_t offset = 0;      // of the first byte
  std::int64_t file_bytes = 0;  // the whole file's size
  bool complete() const { return offset + std::ssize(bytes) >= file_bytes; }
};

class Artifacts {
 public:
  // `state` is the folder of nightshift.db; makes `artifacts/` where it is missing.
  static base::Result<Artifacts> open(const std::filesystem::path& state);

  // The absolute path of "E-7/attempt-0/stdout", which need not exist yet. Refused: absolute names,
  // "..", "." and empty parts, NUL, and names that lead through a symbolic link.
  base::Result<std::filesystem::path> path_of(std::string_view relative) const;

  // At most `limit_bytes` from `offset`; a negative offset counts from the end, for the tail of a
  // log. Error not_found when there is no such regular file.
  base::Result<Excerpt> read(std::string_view relative, std::int64_t offset,
                             std::int64_t limit_bytes) const;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  explicit Artifacts(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;  // absolute
};

}  // namespace store

// A file's bytes in memory, read-only, for as long as the object lives.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "serving/core/result.h"

namespace serving::gguf {

class MappedFile {
 public:
  static Result<std::unique_ptr<MappedFile>> open(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes_;
};

}  // namespace serving::gguf

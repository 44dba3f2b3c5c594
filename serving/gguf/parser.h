// From bytes to a checked File. See file.h for the promise.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "serving/gguf/file.h"
#include "serving/gguf/reader.h"

namespace serving::gguf {

class Parser {
 public:
  explicit Parser(std::span<const std::byte> bytes) : bytes_(bytes), reader_(bytes) {}
  Result<File> parse();

 private:
  struct Counts {
    std::uint64_t tensors = 0, entries = 0;
  };
  Result<Counts> header();
  Status metadata(std::uint64_t count);
  Status tensors(std::uint64_t count);
  Result<Tensor> tensor();
  Result<std::uint64_t> alignment() const;
  Status place_tensors();
  Status check_overlaps() const;

  std::span<const std::byte> bytes_;
  Reader reader_;
  File file_;
  std::vector<std::uint64_t> offsets_;  // of the tensors, from the start of the tensor section
};

}  // namespace serving::gguf

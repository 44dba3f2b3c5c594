// A GGUF file (version 2 or 3, little-endian), mapped into memory and checked as a whole before
// anything is believed: whoever holds a File may use its tensors without looking at bounds again.
// Format: the GGUF specification in the documentation of ggml.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "serving/core/result.h"
#include "serving/gguf/metadata.h"
#include "serving/gguf/types.h"

namespace serving::gguf {

using Dims = std::array<std::uint64_t, 4>;  // dims[0] lies contiguous; those beyond the rank are 1

std::string to_text(const Dims& dims);

struct Tensor {
  std::string name;
  TensorType type = TensorType::f32;
  Dims dims = {1, 1, 1, 1};
  std::span<const std::byte> bytes;  // the file's

  std::uint64_t columns() const { return dims[0]; }
  std::uint64_t rows() const { return dims[1] * dims[2] * dims[3]; }
  void read_row(std::uint64_t row, std::span<float> values) const {  // values: columns()
    decode_row(type, bytes.data() + row * row_bytes(type, columns()), values);
  }
  std::vector<float> values() const;  // all of them, row after row
};

class MappedFile;

class File {
 public:
  // Errors: io (cannot be opened or mapped), bad_input (not a file that we can read; the message
  // says what was expected, what was found, and at which byte).
  static Result<File> open(const std::string& path);
  // As open; `bytes` must outlive the File.
  static Result<File> parse(std::span<const std::byte> bytes);

  File(File&&) noexcept;
  File& operator=(File&&) noexcept;
  ~File();

  const Metadata& metadata() const { return metadata_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor* find(const std::string& name) const;  // null: not there
  // The tensor, which must have these dims; not_found or bad_input otherwise.
  Result<const Tensor*> tensor(const std::string& name, const Dims& dims) const;

 private:
  friend class Parser;
  File();

  std::unique_ptr<MappedFile> mapping_;
  Metadata metadata_;
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace serving::gguf

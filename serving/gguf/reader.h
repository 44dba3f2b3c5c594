// Bounds-checked reading of little-endian values, front to back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "serving/core/result.h"
#include "serving/gguf/value.h"

namespace serving::gguf {

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t offset() const { return offset_; }
  std::size_t left() const { return bytes_.size() - offset_; }

  // `what` names the value in the error of a file that ends too early.
  template <class T>
  Result<T> read(const char* what) {
    if (left() < sizeof(T)) return short_of(what, sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }
  Result<bool> read_bool(const char* what);
  Result<std::string> read_string(const char* what);  // a length of 64 bits, then the bytes
  Result<Value> read_value(std::uint32_t type, const std::string& key);

 private:
  Result<Array> read_array(const std::string& key);
  tl::unexpected<Error> short_of(const char* what, std::uint64_t needed) const;

  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
};

}  // namespace serving::gguf

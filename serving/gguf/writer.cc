#include "serving/gguf/writer.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <type_traits>

namespace serving::gguf {
namespace {

constexpr std::uint64_t kAlignment = 32;

std::uint64_t aligned(std::uint64_t size) {
  return (size + kAlignment - 1) / kAlignment * kAlignment;
}

class Output {
 public:
  explicit Output(std::ostream& stream) : stream_(stream) {}

  void bytes(const void* start, std::size_t size) {
    stream_.write(static_cast<const char*>(start), std::streamsize(size));
    written_ += size;
  }
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      put(std::uint64_t(value.size()));
      bytes(value.data(), value.size());
    } else if constexpr (std::is_same_v<T, bool>) {
      put(std::uint8_t(value));
    } else {
      bytes(&value, sizeof value);
    }
  }
  void put(const Array& array) {
    put(std::uint32_t(array.index()));
    std::visit(
        [&](const auto& items) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(items)>, std::monostate>) {
            put(std::uint64_t(items.size()));
            for (const typename std::decay_t<decltype(items)>::value_type& item : items) put(item);
          }
        },
        array);
  }
  void put(const Value& value) {
    put(std::uint32_t(value.index()));
    std::visit([&](const auto& v) { put(v); }, value);
  }
  void align() {
    static constexpr char zeros[kAlignment] = {};
    bytes(zeros, aligned(written_) - written_);
  }
  bool good() const { return stream_.good(); }

 private:
  std::ostream& stream_;
  std::uint64_t written_ = 0;
};

std::uint64_t tensor_bytes(const PlannedTensor& t) {
  return t.dims[1] * t.dims[2] * t.dims[3] * row_bytes(t.type, t.dims[0]);
}

void write_header(Output& out, const Plan& plan) {
  out.bytes("GGUF", 4);
  out.put(std::uint32_t(3));
  out.put(std::uint64_t(plan.tensors.size()));
  out.put(std::uint64_t(plan.metadata.size()));
  for (const auto& [key, value] : plan.metadata) {
    out.put(key);
    out.put(value);
  }
  std::uint64_t offset = 0;
  for (const PlannedTensor& tensor : plan.tensors) {
    out.put(tensor.name);
    out.put(std::uint32_t(tensor.rank));
    for (int i = 0; i < tensor.rank; ++i) out.put(tensor.dims[i]);
    out.put(std::uint32_t(tensor.type));
    out.put(offset);
    offset += aligned(tensor_bytes(tensor));
  }
}

}  // namespace

Status write(std::ostream& stream, const Plan& plan, const RowSource& rows) {
  Output out(stream);
  write_header(out, plan);
  std::vector<float> values;
  std::vector<std::byte> encoded;
  for (const PlannedTensor& tensor : plan.tensors) {
    out.align();
    values.resize(tensor.dims[0]);
    encoded.resize(row_bytes(tensor.type, tensor.dims[0]));
    const std::uint64_t count = tensor.dims[1] * tensor.dims[2] * tensor.dims[3];
    for (std::uint64_t row = 0; row < count; ++row) {
      rows(tensor, row, values);
      encode_row(tensor.type, values, encoded.data());
      out.bytes(encoded.data(), encoded.size());
    }
    if (!out.good()) return fail(ErrorCode::io, "writing tensor '" + tensor.name + "' failed");
  }
  out.align();  // some readers count the last tensor's padding
  stream.flush();
  return out.good() ? Status() : fail(ErrorCode::io, "writing failed at the end");
}

Status write_file(const std::string& path, const Plan& plan, const RowSource& rows) {
  const std::string partial = path + ".partial";
  std::ofstream stream(partial, std::ios::binary | std::ios::trunc);
  if (!stream) return fail(ErrorCode::io, partial + ": cannot be created");
  Status status = write(stream, plan, rows);
  stream.close();
  if (status && !stream) status = fail(ErrorCode::io, "closing failed");
  if (!status) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    return fail(status.error().code, partial + ": " + status.error().message);
  }
  std::error_code error;
  std::filesystem::rename(partial, path, error);
  if (error) return fail(ErrorCode::io, path + ": " + error.message());
  return {};
}

}  // namespace serving::gguf

#include "serving/gguf/file.h"

#include <utility>

#include "serving/gguf/mapped_file.h"
#include "serving/gguf/parser.h"

namespace serving::gguf {

std::string to_text(const Dims& dims) {
  std::size_t rank = dims.size();
  while (rank > 1 && dims[rank - 1] == 1) --rank;
  std::string text;
  for (std::size_t i = 0; i < rank; ++i) text += (i ? " x " : "") + std::to_string(dims[i]);
  return text;
}

std::vector<float> Tensor::values() const {
  std::vector<float> out(columns() * rows());
  for (std::uint64_t row = 0; row < rows(); ++row) {
    read_row(row, std::span(out).subspan(row * columns(), columns()));
  }
  return out;
}

File::File() = default;
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;
File::~File() = default;

Result<File> File::open(const std::string& path) {
  auto mapping = MappedFile::open(path);
  if (!mapping) return tl::unexpected(mapping.error());
  auto file = parse((*mapping)->bytes());
  if (!file) return fail(file.error().code, path + ": " + file.error().message);
  file->mapping_ = std::move(*mapping);
  return file;
}

Result<File> File::parse(std::span<const std::byte> bytes) { return Parser(bytes).parse(); }

const Tensor* File::find(const std::string& name) const {
  auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : &tensors_[at->second];
}

Result<const Tensor*> File::tensor(const std::string& name, const Dims& dims) const {
  const Tensor* found = find(name);
  if (found == nullptr) {
    return fail(ErrorCode::not_found, "tensor '" + name + "' (" + to_text(dims) + ") is missing");
  }
  if (found->dims != dims) {
    return fail(ErrorCode::bad_input, "tensor '" + name + "': expected " + to_text(dims) +
                                          ", found " + to_text(found->dims));
  }
  return found;
}

}  // namespace serving::gguf

#include "serving/gguf/parser.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace serving::gguf {
namespace {

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::size_t kLongestKey = 65535;    // as the specification says
constexpr std::size_t kLongestName = 63;      // ggml's limit
constexpr std::uint64_t kMostElements = std::uint64_t(1) << 42;
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kLargestAlignment = 1 << 20;
constexpr std::size_t kLeastEntry = 8 + 1 + 4 + 1;           // length, a letter, type, a byte
constexpr std::size_t kLeastTensor = 8 + 1 + 4 + 8 + 4 + 8;  // name, rank, a dim, type, offset

tl::unexpected<Error> malformed(std::string message) {
  return fail(ErrorCode::bad_input, std::move(message));
}

// Names are printed, compared and looked up: no control characters, nothing empty.
bool is_name(const std::string& text, std::size_t longest) {
  return !text.empty() && text.size() <= longest &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::string quoted(const std::string& name) { return "tensor '" + name + "'"; }

Status check_count(std::uint64_t count, std::size_t least_bytes, std::size_t left,
                   const char* what) {
  if (count <= left / least_bytes) return {};
  return malformed("header promises " + std::to_string(count) + " " + what + ", but only " +
                   std::to_string(left) + " bytes follow");
}

Status check_dims(const Tensor& tensor) {
  std::uint64_t elements = 1;
  for (std::uint64_t dim : tensor.dims) {
    if (dim == 0 || dim > kMostElements / elements) {
      return malformed(quoted(tensor.name) + ": dims " + to_text(tensor.dims) +
                       " are empty or beyond 2^42 elements");
    }
    elements *= dim;
  }
  if (tensor.dims[0] % block_size(tensor.type) != 0) {
    return malformed(quoted(tensor.name) + ": rows of " + name(tensor.type) + " are multiples of " +
                     std::to_string(block_size(tensor.type)) + ", found " +
                     std::to_string(tensor.dims[0]));
  }
  return {};
}

}  // namespace

Result<File> Parser::parse() {
  auto counts = header();
  if (!counts) return tl::unexpected(counts.error());
  Status status = metadata(counts->entries);
  if (status) status = tensors(counts->tensors);
  if (status) status = place_tensors();
  if (status) status = check_overlaps();
  if (!status) return tl::unexpected(status.error());
  return std::move(file_);
}

Result<Parser::Counts> Parser::header() {
  auto magic = reader_.read<std::uint32_t>("the magic number");
  if (!magic) return tl::unexpected(magic.error());
  if (*magic != kMagic) return malformed("not a GGUF file: it does not start with 'GGUF'");
  auto version = reader_.read<std::uint32_t>("the version");
  if (!version) return tl::unexpected(version.error());
  if (*version == 0x02000000u || *version == 0x03000000u) {
    return malformed("big-endian GGUF is not supported; convert it to little-endian");
  }
  if (*version != 2 && *version != 3) {
    return malformed("expected GGUF version 2 or 3, found " + std::to_string(*version));
  }
  Counts counts;
  for (std::uint64_t* count : {&counts.tensors, &counts.entries}) {
    auto value = reader_.read<std::uint64_t>("the header's counts");
    if (!value) return tl::unexpected(value.error());
    *count = *value;
  }
  Status status = check_count(counts.entries, kLeastEntry, reader_.left(), "metadata entries");
  if (status) status = check_count(counts.tensors, kLeastTensor, reader_.left(), "tensors");
  if (!status) return tl::unexpected(status.error());
  return counts;
}

Status Parser::metadata(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t at = reader_.offset();
    auto key = reader_.read_string("a metadata key");
    if (!key) return tl::unexpected(key.error());
    if (!is_name(*key, kLongestKey)) {
      return malformed("metadata key " + std::to_string(i) + " at byte " + std::to_string(at) +
                       " is empty, too long or not printable ASCII");
    }
    auto type = reader_.read<std::uint32_t>("a metadata type");
    if (!type) return tl::unexpected(type.error());
    auto value = reader_.read_value(*type, *key);
    if (!value) return tl::unexpected(value.error());
    if (!file_.metadata_.insert(*key, std::move(*value))) {
      return malformed("metadata key '" + *key + "' appears twice, again at byte " +
                       std::to_string(at));
    }
  }
  return {};
}

Status Parser::tensors(std::uint64_t count) {
  file_.tensors_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    auto next = tensor();
    if (!next) return tl::unexpected(next.error());
    if (!file_.by_name_.emplace(next->name, i).second) {
      return malformed(quoted(next->name) + " appears twice");
    }
    file_.tensors_.push_back(std::move(*next));
  }
  return {};
}

Result<Tensor> Parser::tensor() {
  const std::size_t at = reader_.offset();
  auto tensor_name = reader_.read_string("a tensor's name");
  if (!tensor_name) return tl::unexpected(tensor_name.error());
  if (!is_name(*tensor_name, kLongestName)) {
    return malformed("the tensor name at byte " + std::to_string(at) +
                     " is empty, longer than 63 bytes or not printable ASCII");
  }
  Tensor tensor;
  tensor.name = std::move(*tensor_name);
  auto rank = reader_.read<std::uint32_t>("a tensor's rank");
  if (!rank) return tl::unexpected(rank.error());
  if (*rank < 1 || *rank > tensor.dims.size()) {
    return malformed(quoted(tensor.name) + ": expected 1 to 4 dims, found " +
                     std::to_string(*rank));
  }
  for (std::uint32_t i = 0; i < *rank; ++i) {
    auto dim = reader_.read<std::uint64_t>("a tensor's dims");
    if (!dim) return tl::unexpected(dim.error());
    tensor.dims[i] = *dim;
  }
  auto number = reader_.read<std::uint32_t>("a tensor's type");
  if (!number) return tl::unexpected(number.error());
  auto offset = reader_.read<std::uint64_t>("a tensor's offset");
  if (!offset) return tl::unexpected(offset.error());
  auto type = tensor_type(*number);
  if (!type) {
    return malformed(quoted(tensor.name) + ": type " + std::to_string(*number) +
                     " is not supported; F32 (0), F16 (1), Q8_0 (8) and BF16 (30) are");
  }
  tensor.type = *type;
  if (Status status = check_dims(tensor); !status) return tl::unexpected(status.error());
  offsets_.push_back(*offset);
  return tensor;
}

Result<std::uint64_t> Parser::alignment() const {
  auto value = file_.metadata_.integer("general.alignment", kDefaultAlignment);
  if (!value) return tl::unexpected(value.error());
  const auto alignment = std::uint64_t(*value);
  if (alignment < 8 || alignment > kLargestAlignment || (alignment & (alignment - 1)) != 0) {
    return malformed("general.alignment: expected a power of two from 8 to 2^20, found " +
                     std::to_string(*value));
  }
  return alignment;
}

// Gives every tensor its bytes: aligned, and inside the file.
Status Parser::place_tensors() {
  if (file_.tensors_.empty()) return {};
  auto step = alignment();
  if (!step) return tl::unexpected(step.error());
  const std::uint64_t start = (reader_.offset() + *step - 1) / *step * *step;
  if (start > bytes_.size()) {
    return malformed("file ends before its tensor section, which starts at byte " +
                     std::to_string(start));
  }
  const auto section = bytes_.subspan(start);
  for (std::size_t i = 0; i < file_.tensors_.size(); ++i) {
    Tensor& tensor = file_.tensors_[i];
    const std::uint64_t size = tensor.rows() * row_bytes(tensor.type, tensor.columns());
    if (offsets_[i] % *step != 0) {
      return malformed(quoted(tensor.name) + ": offset " + std::to_string(offsets_[i]) +
                       " is no multiple of the alignment, " + std::to_string(*step));
    }
    if (offsets_[i] > section.size() || size > section.size() - offsets_[i]) {
      return malformed(quoted(tensor.name) + ": " + std::to_string(size) + " bytes at offset " +
                       std::to_string(offsets_[i]) + " lie beyond the tensor section of " +
                       std::to_string(section.size()) + " bytes; the file may be truncated");
    }
    tensor.bytes = section.subspan(offsets_[i], size);
  }
  return {};
}

Status Parser::check_overlaps() const {
  std::vector<std::size_t> order(file_.tensors_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return offsets_[a] < offsets_[b]; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Tensor& before = file_.tensors_[order[i - 1]];
    const Tensor& after = file_.tensors_[order[i]];
    if (before.bytes.data() + before.bytes.size() > after.bytes.data()) {
      return malformed(quoted(before.name) + " and " + quoted(after.name) +
                       " overlap: the first ends at offset " +
                       std::to_string(offsets_[order[i - 1]] + before.bytes.size()) +
                       ", the second starts at " + std::to_string(offsets_[order[i]]));
    }
  }
  return {};
}

}  // namespace serving::gguf

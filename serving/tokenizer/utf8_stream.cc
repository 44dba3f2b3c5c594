#include "serving/tokenizer/utf8_stream.h"

#include "serving/tokenizer/unicode.h"

namespace serving::tokenizer {
namespace {

constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";

}  // namespace

std::string Utf8Stream::add(std::string_view bytes) {
  waiting_ += bytes;
  std::string_view left = waiting_;
  std::string text;
  while (!left.empty()) {
    const Decoded next = decode_utf8(left);
    if (next.truncated) break;
    text += next.valid ? left.substr(0, next.size) : kReplacementText;
    left.remove_prefix(next.size);
  }
  waiting_.erase(0, waiting_.size() - left.size());
  return text;
}

std::string Utf8Stream::finish() {
  const bool unfinished = !waiting_.empty();
  waiting_.clear();
  return unfinished ? std::string(kReplacementText) : std::string();
}

}  // namespace serving::tokenizer

#include "scripts/tidy/code.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace tidy {
namespace {

// Copies text to its blanked twin, one comment or literal at a time.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text) { out_.reserve(text.size()); }

  std::string run() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        blank_until(end_of_line());
      } else if (starts("/*")) {
        blank_until(after(text_.find("*/", at_ + 2), 2));
      } else if (text_[at_] == '"') {
        is_raw() ? raw_string() : quoted('"');
      } else if (text_[at_] == '\'' && !is_digit_separator()) {
        quoted('\'');
      } else {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  std::size_t end_of_line() const { return after(text_.find('\n', at_), 0); }
  std::size_t after(std::size_t found, std::size_t length) const {
    return found == std::string_view::npos ? text_.size() : found + length;
  }

  void blank_until(std::size_t end) {
    for (; at_ < end; ++at_) out_ += text_[at_] == '\n' ? '\n' : ' ';
  }

  // The quotes stay, so that a literal still is one thing to the rules.
  void quoted(char quote) {
    out_ += text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      blank_until(std::min(at_ + (text_[at_] == '\\' ? 2 : 1), text_.size()));
    }
    if (at_ < text_.size() && text_[at_] == quote) out_ += text_[at_++];
  }

  // R"x( ... )x", also behind u8, u, U or L.
  bool is_raw() const {
    if (at_ == 0 || text_[at_ - 1] != 'R') return false;
    std::size_t start = at_ - 1;
    while (start > 0 && is_word(text_[start - 1])) --start;
    std::string_view prefix = text_.substr(start, at_ - 1 - start);
    return prefix.empty() || prefix == "u8" || prefix == "u" || prefix == "U" || prefix == "L";
  }
  void raw_string() {
    std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return quoted('"');
    std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    std::size_t close = text_.find(end, open);
    out_ += text_[at_++];
    blank_until(after(close, end.size() - 1));
    if (close != std::string_view::npos) out_ += text_[at_++];
  }

  // 1'000: the word before the quote starts with a digit.
  bool is_digit_separator() const {
    std::size_t start = at_;
    while (start > 0 && (is_word(text_[start - 1]) || text_[start - 1] == '\'')) --start;
    return start < at_ && std::isdigit(static_cast<unsigned char>(text_[start])) != 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string blank_out(std::string_view text) { return Blanker(text).run(); }

std::string blank_out_directives(std::string_view code) {
  std::string out(code);
  bool continued = false;
  for (std::size_t start = 0; start < out.size();) {
    std::size_t end = std::min(out.find('\n', start), out.size());
    std::string_view line = trim(std::string_view(out).substr(start, end - start));
    bool directive = continued || line.starts_with('#');
    continued = directive && line.ends_with('\\');
    if (directive) out.replace(start, end - start, end - start, ' ');
    start = end + 1;
  }
  return out;
}

Code::Code(const Source& source) : code_(blank_out(source.text)) {
  std::string_view text = source.text;
  std::string_view code = code_;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t length = std::min(text.find('\n', start), text.size()) - start;
    lines_.push_back({static_cast<int>(lines_.size()) + 1, text.substr(start, length),
                      code.substr(start, length)});
    start += length + 1;
  }
}

Include include_of(const Line& line) {
  std::string_view rest = trim(line.code);
  if (!rest.starts_with('#')) return {};
  if (!trim(rest.substr(1)).starts_with("include")) return {};
  std::size_t open = line.text.find_first_of("<\"");
  if (open == std::string_view::npos) return {};
  bool quoted = line.text[open] == '"';
  std::size_t close = line.text.find(quoted ? '"' : '>', open + 1);
  if (close == std::string_view::npos) return {};
  return {line.text.substr(open + 1, close - open - 1), quoted};
}

bool has_reason(std::string_view line, std::string_view marker) {
  constexpr std::size_t kShortestReason = 10;
  std::size_t comment = line.find("//");
  if (comment == std::string_view::npos) return false;
  std::size_t found = line.find(marker, comment);
  if (found == std::string_view::npos) return false;
  if (found > 0 && is_word(line[found - 1])) return false;
  std::string_view reason = trim(line.substr(found + marker.size()));
  return reason.size() >= kShortestReason && reason.find(' ') != std::string_view::npos;
}

bool is_header(std::string_view path) { return path.ends_with(".h") || path.ends_with(".cuh"); }
bool is_unit(std::string_view path) { return path.ends_with(".cc") || path.ends_with(".cu"); }
bool is_test(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("test_")) return true;
  return path.ends_with("_test.cc") || path.ends_with("_test.cu") ||
         path.ends_with("_contract.h") || path.ends_with("_contract.cc");
}

std::string_view folder_of(std::string_view path) {
  std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace tidy

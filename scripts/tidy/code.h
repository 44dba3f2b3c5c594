// A source as text and as code: the same characters with comments and literals blanked, so that a
// rule about calls does not trip over prose.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidy {

// A file of the tree; the path is relative to its root, with slashes.
struct Source {
  std::string path;
  std::string text;
};

struct Line {
  int number = 0;         // from 1
  std::string_view text;  // as written, without the newline
  std::string_view code;  // without comments and the insides of literals
};

// `text` with comments and the insides of string and character literals (raw ones too) replaced by
// spaces. Newlines stay, so line numbers and columns are those of `text`.
std::string blank_out(std::string_view text);

// `code` (from blank_out) with preprocessor lines and their continuations blanked too.
std::string blank_out_directives(std::string_view code);

// Holds the blanked copy, so its lines are views into it and into the source, which must outlive
// it.
class Code {
 public:
  explicit Code(const Source& source);
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  const std::vector<Line>& lines() const { return lines_; }
  const std::string& code() const { return code_; }

 private:
  std::string code_;
  std::vector<Line> lines_;
};

// The path between the quotes or brackets of an #include; empty for any other line.
struct Include {
  std::string_view path;
  bool quoted = false;
};
Include include_of(const Line& line);

// Whether the line carries `marker` ("tidy:" or "size:") and at least a few words of reason.
bool has_reason(std::string_view line, std::string_view marker);

bool is_header(std::string_view path);  // .h, .cuh
bool is_unit(std::string_view path);    // .cc, .cu
bool is_test(std::string_view path);    // x_test.cc and what tests share: x_contract.h, test_x.h
std::string_view folder_of(std::string_view path);  // "store" of "store/git/names.cc"
bool is_word(char c);                               // may stand in a name
std::string_view trim(std::string_view text);

}  // namespace tidy

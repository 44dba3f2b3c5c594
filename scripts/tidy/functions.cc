// The function_size_rule: a brace counter, not a parser. It is told apart here what a `{` opens:
//   a scope     namespace, extern "C", class, struct, union, enum: its insides are looked at;
//   a function  anything else with a parameter list before it, lambdas in variables too;
//   data        an initializer.
// A lambda inside a function counts as part of the function.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "scripts/tidy/rules.h"

namespace tidy {
namespace {

constexpr int kFunctionLines = 70;

enum class Opens { scope, function, data };

struct Block {
  Opens opens = Opens::scope;
  std::string head;  // what stands before the brace, since the last statement
  int first_line = 0;
  int brace_line = 0;
};

struct Function {
  std::string name;
  int first_line = 0, brace_line = 0, last_line = 0;
};

// Removes `open`...`close` (balanced) that starts at `at`.
void cut_balanced(std::string& text, std::size_t at, char open, char close) {
  int depth = 0;
  std::size_t end = at;
  for (; end < text.size(); ++end) {
    if (text[end] == open) ++depth;
    if (text[end] == close && --depth == 0) break;
  }
  text.erase(at, std::min(end + 1, text.size()) - at);
}

// The head without attributes, alignas(...) and template<...>.
std::string plain(std::string_view head) {
  std::string text(head);
  for (std::size_t at; (at = text.find("[[")) != std::string::npos;) {
    cut_balanced(text, at, '[', ']');
  }
  for (std::size_t at; (at = text.find("alignas")) != std::string::npos;) {
    text.erase(at, 7);
    cut_balanced(text, at, '(', ')');
  }
  while (trim(text).starts_with("template")) {
    text.erase(0, text.find("template") + 8);
    cut_balanced(text, 0, '<', '>');
  }
  return std::string(trim(text));
}

std::string_view first_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(0, end);
}

// Position of an assignment outside all parentheses and comparison operators; npos for none.
std::size_t assignment(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != '=' || depth != 0) continue;
    char before = i > 0 ? text[i - 1] : ' ';
    char after = i + 1 < text.size() ? text[i + 1] : ' ';
    if (after == '=') {
      ++i;
    } else if (before != '<' && before != '>' && before != '!') {
      return i;
    }
  }
  return std::string_view::npos;
}

Opens what_opens(std::string_view head) {
  constexpr std::array<std::string_view, 5> kScopes = {"namespace", "class", "struct", "union",
                                                       "enum"};
  std::string text = plain(head);
  std::string_view rest = text;
  for (std::string_view word = first_word(rest);
       word == "inline" || word == "static" || word == "constexpr" || word == "export" ||
       word == "typedef";
       word = first_word(rest)) {
    rest = trim(rest.substr(word.size()));
  }
  std::size_t paren = rest.find('(');
  if (std::find(kScopes.begin(), kScopes.end(), first_word(rest)) != kScopes.end()) {
    // "struct A f(int) {" is a function; "struct A : B<decltype(x)> {" is not.
    if (paren == std::string_view::npos || rest.find(':') < paren) return Opens::scope;
  }
  if (rest.starts_with("extern") && rest.ends_with('"')) return Opens::scope;
  std::size_t equals =
      rest.find("operator") == std::string_view::npos ? assignment(rest) : std::string_view::npos;
  if (equals != std::string_view::npos) {
    bool lambda = rest.find('[', equals) != std::string_view::npos;
    return lambda ? Opens::function : Opens::data;
  }
  return paren == std::string_view::npos ? Opens::data : Opens::function;
}

bool is_access(std::string_view head) {
  head = trim(head);
  return head == "public" || head == "private" || head == "protected";
}

std::string name_of(std::string_view head) {
  std::string text = plain(head);
  std::string_view before = trim(std::string_view(text).substr(0, text.find('(')));
  std::size_t start = before.size();
  while (start > 0 &&
         (is_word(before[start - 1]) || before[start - 1] == ':' || before[start - 1] == '~')) {
    --start;
  }
  return before.substr(start).empty() ? "function" : std::string(before.substr(start));
}

class BraceCounter {
 public:
  // `code` as from blank_out_directives(blank_out(text)).
  explicit BraceCounter(std::string_view code) : code_(code) {}

  std::vector<Function> run() {
    for (; at_ < code_.size(); ++at_) {
      char c = code_[at_];
      if (c == '\n') ++line_;
      if (c == '{') {
        open();
      } else if (c == '}') {
        close();
      } else if (in_scope()) {
        extend_head(c);
      }
    }
    return std::move(functions_);
  }

  // Whether every brace found its partner; only then the counts mean anything.
  bool balanced() const { return balanced_ && blocks_.empty() && inner_ == 0; }
  int line() const { return line_; }

 private:
  bool in_scope() const { return blocks_.empty() || blocks_.back().opens == Opens::scope; }

  void open() {
    if (!in_scope()) {
      ++inner_;
      return;
    }
    blocks_.push_back({what_opens(head_), head_, head_.empty() ? line_ : head_line_, line_});
    head_.clear();
  }

  void close() {
    if (inner_ > 0) {
      --inner_;
      return;
    }
    if (blocks_.empty()) {
      balanced_ = false;
      return;
    }
    Block block = std::move(blocks_.back());
    blocks_.pop_back();
    head_.clear();
    if (block.opens == Opens::scope) return;
    if (goes_on()) {  // it was an initializer: "A::A() : a_{1}, b_(2) {"
      head_ = block.head + "{}";
      head_line_ = block.first_line;
    } else if (block.opens == Opens::function) {
      functions_.push_back({name_of(block.head), block.first_line, block.brace_line, line_});
    }
  }

  bool goes_on() const {
    std::size_t next = code_.find_first_not_of(" \n\r", at_ + 1);
    if (next == std::string_view::npos) return false;
    return code_[next] == ',' || code_[next] == '{' || code_[next] == ')';
  }

  void extend_head(char c) {
    if (c == ';' || (c == ':' && is_access(head_))) {
      head_.clear();
    } else if (!head_.empty() || std::isspace(static_cast<unsigned char>(c)) == 0) {
      if (head_.empty()) head_line_ = line_;
      head_ += c;
    }
  }

  std::string_view code_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::string head_;
  int head_line_ = 1;
  std::vector<Block> blocks_;
  int inner_ = 0;  // braces within the innermost function or initializer
  bool balanced_ = true;
  std::vector<Function> functions_;
};

// On the line above the function or on one of its head's lines.
bool is_excused(const std::vector<Line>& lines, const Function& function) {
  for (int number = std::max(1, function.first_line - 1); number <= function.brace_line; ++number) {
    if (has_reason(lines[static_cast<std::size_t>(number) - 1].text, "size:")) return true;
  }
  return false;
}

}  // namespace

std::vector<Violation> function_size_rule(const Source& source) {
  const Code code(source);
  const std::string counted = blank_out_directives(code.code());
  BraceCounter counter(counted);
  std::vector<Violation> violations;
  for (const Function& function : counter.run()) {
    int lines = function.last_line - function.first_line + 1;
    if (lines <= kFunctionLines || is_excused(code.lines(), function)) continue;
    violations.push_back({source.path, function.first_line, "function size",
                          function.name + " has " + std::to_string(lines) + " lines, at most " +
                              std::to_string(kFunctionLines) +
                              "; name its parts, or say above it `// size: why it is one thing`"});
  }
  if (!counter.balanced()) {
    violations.push_back({source.path, counter.line(), "function size",
                          "the braces do not pair up for the counter; do not open a brace in one "
                          "branch of an #if and close it in another"});
  }
  return violations;
}

}  // namespace tidy

#include "hypotheses/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <tuple>

#include "hypotheses/nearest.h"

namespace hypotheses {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The length of the UTF-8 sequence at `i`, 0 when the bytes are none (RFC 3629: no overlong forms,
// no surrogates, nothing above U+10FFFF).
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) -> unsigned {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0;
  };
  const auto tail = [&](std::size_t k) { return (byte(k) & 0xc0) == 0x80; };
  const unsigned first = byte(i), second = byte(i + 1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(i + 1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f);
    return !bad && tail(i + 1) && tail(i + 2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool bad = (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return !bad && tail(i + 1) && tail(i + 2) && tail(i + 3) ? 4 : 0;
  }
  return 0;
}

struct BadBytes {
  std::size_t position;
  std::string text;
};

// yaml-cpp guesses encodings and replaces bad bytes silently; a file of ours is plain UTF-8.
std::optional<BadBytes> first_bad_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
      return BadBytes{i, "a control character; expected UTF-8 text"};
    const std::size_t length = sequence_length(text, i);
    if (length == 0) return BadBytes{i, "bytes that are not UTF-8; save the file as UTF-8"};
    i += length;
  }
  return {};
}

bool writes_null(std::string_view rest) {
  return rest.starts_with("~") || rest.starts_with("null") || rest.starts_with("Null") ||
         rest.starts_with("NULL");
}

[[noreturn]] void syntax_error(std::size_t position, const std::string& text) {
  YAML::Mark mark;
  mark.pos = static_cast<int>(position);
  throw YAML::ParserException(mark, text);
}

// Builds the flat list from yaml-cpp's events. A syntax error leaves as a ParserException.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(YamlSource& source) : source_(source) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0)
      syntax_error(at(mark), "expected the end of the file: one document a file");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    std::size_t position = at(mark);
    // An absent value is marked where the next thing stands; its key is a better place.
    if (in_map() && has_key_ && !writes_null(std::string_view(source_.text).substr(position)))
      position = key_.key_position;
    if (expects_key()) syntax_error(position, "expected a key");
    add(YamlTreeNode::Kind::null, position, anchor, false);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (expects_key()) syntax_error(at(mark), "expected a key; an alias cannot be one");
    const auto target = anchors_.find(anchor);
    if (target == anchors_.end()) syntax_error(at(mark), "an alias of a key; repeat the text");
    if (std::find(open_.begin(), open_.end(), target->second) != open_.end())
      syntax_error(at(mark), "an alias inside of its own anchor");
    attach(target->second, true);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const std::size_t position = behind_properties(at(mark));
    const std::string_view text = source_.text;
    const bool is_quoted =
        position < text.size() && (text[position] == '"' || text[position] == '\'');
    // yaml-cpp 0.7 takes the end of the file for the missing quote.
    if (is_quoted && tag != "?" && end_of_quoted(text, position) == std::string_view::npos)
      syntax_error(position, "a quoted text that never ends; expected the closing quote");
    if (expects_key()) {
      key_ = {value, at(mark), 0, false};
      has_key_ = true;
      return;
    }
    const std::size_t node =
        add(YamlTreeNode::Kind::scalar, position, anchor, position != at(mark));
    source_.nodes[node].text = value;
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlTreeNode::Kind::list, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlTreeNode::Kind::map, mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  std::size_t at(const YAML::Mark& mark) const {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), source_.text.size());
  }

  // yaml-cpp marks a value at its anchor or tag.
  std::size_t behind_properties(std::size_t position) const {
    const std::string_view text = source_.text;
    while (position < text.size() && (text[position] == '&' || text[position] == '!')) {
      position = std::min(text.find_first_of(" \t\r\n", position), text.size());
      position = std::min(text.find_first_not_of(" \t\r\n", position), text.size());
    }
    return position;
  }

  bool in_map() const {
    return !open_.empty() && source_.nodes[open_.back()].kind == YamlTreeNode::Kind::map;
  }
  bool expects_key() const { return in_map() && !has_key_; }

  void open(YamlTreeNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (expects_key()) syntax_error(at(mark), "expected a key; a list or map cannot be one");
    if (open_.size() >= kMaxYamlDepth)
      syntax_error(at(mark), "nested deeper than " + std::to_string(kMaxYamlDepth) + " levels");
    open_.push_back(add(kind, at(mark), anchor, anchor != 0));
  }
  void close() { open_.pop_back(); }

  std::size_t add(YamlTreeNode::Kind kind, std::size_t position, YAML::anchor_t anchor,
                  bool decorated) {
    const std::size_t index = source_.nodes.size();
    YamlTreeNode& node = source_.nodes.emplace_back();
    node.kind = kind;
    node.position = position;
    node.decorated = decorated;
    if (anchor != 0) anchors_[anchor] = index;
    attach(index, false);
    return index;
  }

  void attach(std::size_t index, bool alias) {
    if (open_.empty()) return;
    YamlTreeNode& parent = source_.nodes[open_.back()];
    if (parent.kind == YamlTreeNode::Kind::list) {
      parent.items.push_back(index);
      return;
    }
    has_key_ = false;
    key_.value = index;
    key_.alias = alias;
    if (parent.index.emplace(key_.key, parent.entries.size()).second) {
      parent.entries.push_back(std::move(key_));
    } else {
      source_.report(key_.key_position, "duplicate key " + shown(key_.key) + "; keep one of them");
    }
  }

  YamlSource& source_;
  int documents_ = 0;
  std::vector<std::size_t> open_;  // lists and maps that have not ended, outermost first
  std::map<YAML::anchor_t, std::size_t> anchors_;
  // The key whose value comes next. One is enough: a nested map starts only once it is attached.
  YamlEntry key_;
  bool has_key_ = false;
};

void build_tree(YamlSource& source) {
  std::istringstream stream(source.text);
  try {
    YAML::Parser parser(stream);
    TreeBuilder builder(source);
    // The second call sees whatever follows the first document; the builder refuses it.
    if (parser.HandleNextDocument(builder)) parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    source.nodes.clear();
    source.mistakes.clear();
    const auto position = static_cast<std::size_t>(std::max(error.mark.pos, 0));
    source.report(position, "syntax error: " + error.msg);
    return;
  }
  const bool nothing = source.nodes.empty() || source.nodes[0].kind == YamlTreeNode::Kind::null;
  if (nothing) {
    source.nodes.clear();
    source.report(0, "the file is empty; expected a map of keys");
  }
}

}  // namespace

void YamlSource::report(std::size_t position, std::string message) {
  if (mistakes.size() >= kMaxMistakes) return;
  position = std::min(position, text.size());
  const auto next = std::upper_bound(line_starts.begin(), line_starts.end(), position);
  const std::size_t start = next == line_starts.begin() ? 0 : *(next - 1);
  int column = 1;
  for (std::size_t i = start; i < position; ++i)
    column += (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;  // characters, not bytes
  Mistake mistake{file, static_cast<int>(next - line_starts.begin()), column, std::move(message)};

  const auto place = [](const Mistake& m) { return std::tie(m.line, m.column); };
  auto here = std::upper_bound(mistakes.begin(), mistakes.end(), mistake,
                               [&](const auto& a, const auto& b) { return place(a) < place(b); });
  for (auto same = here; same != mistakes.begin() && place(*(same - 1)) == place(mistake); --same)
    if ((same - 1)->text == mistake.text) return;
  mistakes.insert(here, std::move(mistake));
}

std::shared_ptr<YamlSource> parse_yaml(std::string_view text, std::string file) {
  auto source = std::make_shared<YamlSource>();
  source->file = std::move(file);
  source->line_starts = {0};
  if (text.size() > kMaxYamlBytes) {
    source->report(0, "the file has " + std::to_string(text.size()) + " bytes; at most " +
                          std::to_string(kMaxYamlBytes) + " are read");
    return source;
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  source->text = text;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') source->line_starts.push_back(i + 1);
  if (auto bad = first_bad_byte(text)) {
    source->report(bad->position, "syntax error: " + bad->text);
    return source;
  }
  build_tree(*source);
  return source;
}

std::size_t end_of_quoted(std::string_view text, std::size_t position) {
  const char quote = text[position];
  for (std::size_t i = position + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!doubled) return i + 1;
      ++i;
    }
  }
  return std::string_view::npos;
}

}  // namespace hypotheses

// The one strict YAML reader: every mistake is reported with file, line and column, all together;
// an unknown or duplicate key is a mistake. A syntax error ends a file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hypotheses/words.h"

namespace hypotheses {

// One mistake in a file; line and column count from 1.
struct Mistake {
  std::string file;
  int line = 0, column = 0;
  std::string text;  // expected, found, what to do
};
std::string to_text(const std::vector<Mistake>& mistakes);  // a line each: "file:3:7: text"

// A place in a parsed file. Copies are cheap; a YamlNode of something absent is `!present()`.
// Readers report into the document's list of mistakes and return nothing; on an absent node they
// report nothing, for required() has. Anchors and aliases work; merge keys (<<) do not.
class YamlNode {
 public:
  struct Impl;
  explicit YamlNode(std::shared_ptr<const Impl> impl = nullptr) : impl_(std::move(impl)) {}

  bool present() const { return impl_ != nullptr; }
  bool is_map() const;
  bool is_list() const;
  bool is_scalar() const;

  // Keys of a map in file order; a mistake if it is no map. `allowed` empty = any key.
  std::vector<std::string> keys(const std::vector<std::string_view>& allowed = {}) const;
  YamlNode at(std::string_view key) const;        // absent node when missing
  YamlNode required(std::string_view key) const;  // a mistake when missing
  std::vector<YamlNode> items() const;            // of a list; a mistake if it is none

  std::optional<std::string> text() const;  // any scalar
  std::optional<double> number() const;
  std::optional<long> integer() const;
  std::optional<bool> boolean() const;
  std::optional<double> fraction() const;  // "5%" or 0.05
  std::optional<double> seconds() const;   // "30s", "5m", "8h", "250ms" or a number of seconds

  void mistake(std::string text) const;                               // reports at this node's mark
  void mistake_at_key(std::string_view key, std::string text) const;  // at that key of this map

 private:
  std::shared_ptr<const Impl> impl_;
};

// One of the words of an enum (words.h); a mistake that lists them all when it is none.
template <class E>
std::optional<E> read_word(const YamlNode& node) {
  const std::optional<std::string> text = node.text();
  if (!text) return {};
  const std::optional<E> value = from_text<E>(*text);
  if (!value) node.mistake("expected one of " + all_words<E>() + "; found '" + *text + "'");
  return value;
}

class YamlDocument {
 public:
  // Never fails: a syntax error is the one mistake of the document, and its root is absent.
  // The same for an empty file, more than 1 MiB, more than 64 levels and bytes that are not UTF-8.
  static YamlDocument parse(std::string_view text, std::string file);

  YamlNode root() const;
  const std::vector<Mistake>& mistakes() const;  // in the order of their places; at most 100

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// `text` with the scalar at `key` replaced in place, so comments and layout stay. `key` is looked
// up as it stands ("kda_decode.v_tile"), then as a path of nested maps (split at the dots). The
// style of quoting is kept where it can hold the value. Errors: bad_input (the file has mistakes,
// the value is written over several lines, or behind an anchor or alias), not_found (no such key).
base::Result<std::string> set_scalar(std::string_view text, std::string_view key,
                                     std::string_view value, std::string_view file);
base::Result<std::string> get_scalar(std::string_view text, std::string_view key,
                                     std::string_view file);

}  // namespace hypotheses

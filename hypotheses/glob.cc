// Globs by simulation of a small automaton (Thompson 1968): time is pattern times path, whatever
// the pattern; there is no backtracking.
#include "hypotheses/glob.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "hypotheses/manifest.h"

namespace hypotheses {
namespace {

constexpr std::size_t kLongestPattern = 512;
constexpr int kDeepestBraces = 4;

struct GlobState {
  enum class Kind { literal, not_slash, anything, fork };
  Kind kind = Kind::fork;
  char c = 0;
  std::size_t next = 0;   // of a fork: either; otherwise after one character
  std::size_t other = 0;  // of a fork only
};

// Compiles a valid pattern. The state behind the last one accepts.
class GlobCompiler {
 public:
  explicit GlobCompiler(std::string_view pattern) : pattern_(pattern) {}

  std::vector<GlobState> compile() {
    sequence(true);
    return std::move(states_);
  }

 private:
  using Kind = GlobState::Kind;

  std::size_t here() const { return states_.size(); }
  void one(Kind kind, char c = 0) { states_.push_back({kind, c, here() + 1, 0}); }
  // Any number of characters: a fork around one that comes back.
  void many(Kind kind) {
    states_.push_back({Kind::fork, 0, here() + 1, here() + 2});
    states_.push_back({kind, 0, here() - 1, 0});
  }

  // Up to the pattern's end or the ',' or '}' of the enclosing braces.
  void sequence(bool folder_start) {
    while (at_ < pattern_.size() && !(depth_ > 0 && (peek() == ',' || peek() == '}'))) {
      const char c = pattern_[at_];
      if (pattern_.substr(at_).starts_with("**/") && folder_start) {
        any_folders();
      } else if (pattern_.substr(at_).starts_with("**")) {
        at_ += 2;
        many(Kind::anything);
      } else if (c == '{') {
        braces(folder_start);
      } else {
        ++at_;
        if (c == '*') many(Kind::not_slash);
        if (c == '?') one(Kind::not_slash);
        if (c != '*' && c != '?') one(Kind::literal, c);
      }
      folder_start = pattern_[at_ - 1] == '/';
    }
  }

  // "**/" at the start of a folder's name: no folder at all, or any number of whole ones.
  void any_folders() {
    at_ += 3;
    const std::size_t around = here();
    states_.push_back({Kind::fork, 0, around + 1, 0});
    many(Kind::anything);
    one(Kind::literal, '/');
    states_[around].other = here();
  }

  // Each alternative behind its fork; all end in one place, which forks hold until it is known.
  void braces(bool folder_start) {
    std::vector<std::size_t> ends;
    ++depth_;
    do {
      ++at_;  // the '{' or ','
      const std::size_t fork = here();
      states_.push_back({Kind::fork, 0, fork + 1, 0});
      sequence(folder_start);
      ends.push_back(here());
      states_.push_back({Kind::fork, 0, 0, 0});
      // The last alternative's fork leads to itself: nothing is left to try.
      states_[fork].other = peek() == ',' ? here() : fork + 1;
    } while (peek() == ',');
    ++at_;  // the '}'
    --depth_;
    for (std::size_t end : ends) states_[end].next = states_[end].other = here();
  }

  char peek() const { return pattern_[at_]; }

  std::string_view pattern_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<GlobState> states_;
};

class StateSet {
 public:
  explicit StateSet(const std::vector<GlobState>& states)
      : states_(states), member_(states.size() + 1, false) {}

  void add(std::size_t state) {
    pending_.push_back(state);
    while (!pending_.empty()) {
      const std::size_t next = pending_.back();
      pending_.pop_back();
      if (member_[next]) continue;
      member_[next] = true;
      members_.push_back(next);
      if (next == states_.size() || states_[next].kind != GlobState::Kind::fork) continue;
      pending_.push_back(states_[next].next);
      pending_.push_back(states_[next].other);
    }
  }
  void clear() {
    for (std::size_t state : members_) member_[state] = false;
    members_.clear();
  }
  const std::vector<std::size_t>& members() const { return members_; }
  bool accepts() const { return member_[states_.size()]; }

 private:
  const std::vector<GlobState>& states_;
  std::vector<bool> member_;
  std::vector<std::size_t> members_, pending_;
};

bool takes(const GlobState& state, char c) {
  switch (state.kind) {
    case GlobState::Kind::literal:
      return c == state.c;
    case GlobState::Kind::not_slash:
      return c != '/';
    case GlobState::Kind::anything:
      return true;
    case GlobState::Kind::fork:
      return false;
  }
  return false;
}

std::optional<std::string> braces_problem(std::string_view pattern) {
  int depth = 0;
  for (char c : pattern) {
    depth += (c == '{') - (c == '}');
    if (depth < 0) return "a '}' without its '{'";
    if (depth > kDeepestBraces) return "braces are nested too deep";
  }
  if (depth > 0) return "a '{' without its '}'";
  return {};
}

}  // namespace

std::optional<std::string> glob_problem(std::string_view pattern) {
  if (pattern.empty()) return "the pattern is empty";
  if (pattern.size() > kLongestPattern) return "the pattern is too long";
  if (pattern.front() == '/') return "expected a path relative to the target's root, without '/'";
  if (pattern.front() == '!') return "negated patterns are not supported";
  if (pattern.find_first_of("[]\\") != std::string_view::npos)
    return "[...] and '\\' are not supported; use *, **, ? and {a,b}";
  for (std::string_view rest = pattern;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view folder = rest.substr(0, slash);
    if (folder == ".." || folder == ".") return "'.' and '..' match no path of a target";
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
    if (rest.empty()) return "a pattern that ends in '/' matches nothing; add **";
  }
  return braces_problem(pattern);
}

bool glob_matches(std::string_view pattern, std::string_view path) {
  if (glob_problem(pattern)) return false;
  const std::vector<GlobState> states = GlobCompiler(pattern).compile();
  StateSet first(states), second(states);
  StateSet *now = &first, *then = &second;
  now->add(0);
  for (char c : path) {
    then->clear();
    for (std::size_t state : now->members())
      if (state < states.size() && takes(states[state], c)) then->add(states[state].next);
    std::swap(now, then);
  }
  return now->accepts();
}

}  // namespace hypotheses

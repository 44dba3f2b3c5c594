// A grammar as a recursive transition network over bytes (Woods 1970): rules made of states, edges
// that take a byte, take nothing, or call a rule and go on behind it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "serving/core/result.h"

namespace serving {

using StateId = std::int32_t;
using RuleId = std::int32_t;

struct Edge {
  enum class Kind : std::uint8_t { bytes, call, free };
  Kind kind = Kind::free;
  std::uint8_t low = 0, high = 0;  // bytes: low <= b <= high
  RuleId rule = 0;                 // call
  StateId to = 0;
};

struct Rule {
  StateId begin = 0, end = 0;  // no edge leaves the end
};

struct Grammar {
  std::vector<std::vector<Edge>> edges;  // by state
  std::vector<Rule> rules;               // 0 is the whole
};

class GrammarBuilder {
 public:
  // All of them may be alternatives of one step, which the engine waits for.
  static constexpr std::size_t kStates = 50'000;

  RuleId add_rule();  // empty so far: may be called before it is filled, so rules may be recursive
  StateId add_state();
  StateId begin(RuleId rule) const { return grammar_.rules[index(rule)].begin; }
  StateId end(RuleId rule) const { return grammar_.rules[index(rule)].end; }

  void range(StateId from, std::uint8_t low, std::uint8_t high, StateId to);
  void skip(StateId from, StateId to);
  void call(StateId from, RuleId rule, StateId to);
  // The same to a new state, which they return.
  StateId range(StateId from, std::uint8_t low, std::uint8_t high);
  StateId literal(StateId from, std::string_view bytes);
  StateId call(StateId from, RuleId rule);

  // Takes out whatever cannot lead to an end, so that a walk never gets stuck. bad_input: rule 0
  // has no end, a rule calls itself without taking a byte, or there are more than kStates states.
  Result<Grammar> build() &&;

 private:
  static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }
  std::vector<bool> reaching_end(bool without_bytes) const;
  bool left_recursive() const;

  Grammar grammar_;
  bool too_large_ = false;
};

}  // namespace serving

#include "serving/grammar/grammar.h"

#include <algorithm>
#include <string>
#include <utility>

namespace serving {

RuleId GrammarBuilder::add_rule() {
  const StateId begin = add_state();
  grammar_.rules.push_back({begin, add_state()});
  return static_cast<RuleId>(grammar_.rules.size() - 1);
}

StateId GrammarBuilder::add_state() {
  if (grammar_.edges.size() == kStates) {  // build() will refuse; until then nothing grows
    too_large_ = true;
    return 0;
  }
  grammar_.edges.emplace_back();
  return static_cast<StateId>(grammar_.edges.size() - 1);
}

void GrammarBuilder::range(StateId from, std::uint8_t low, std::uint8_t high, StateId to) {
  grammar_.edges[index(from)].push_back({Edge::Kind::bytes, low, high, 0, to});
}

void GrammarBuilder::skip(StateId from, StateId to) {
  grammar_.edges[index(from)].push_back({Edge::Kind::free, 0, 0, 0, to});
}

void GrammarBuilder::call(StateId from, RuleId rule, StateId to) {
  grammar_.edges[index(from)].push_back({Edge::Kind::call, 0, 0, rule, to});
}

StateId GrammarBuilder::range(StateId from, std::uint8_t low, std::uint8_t high) {
  const StateId to = add_state();
  range(from, low, high, to);
  return to;
}

StateId GrammarBuilder::literal(StateId from, std::string_view bytes) {
  for (char c : bytes)
    from = range(from, static_cast<std::uint8_t>(c), static_cast<std::uint8_t>(c));
  return from;
}

StateId GrammarBuilder::call(StateId from, RuleId rule) {
  const StateId to = add_state();
  call(from, rule, to);
  return to;
}

// The least fixed point: ends reach; a state does where one of its edges leads to one that does and
// the rule it calls, if any, can be left.
std::vector<bool> GrammarBuilder::reaching_end(bool without_bytes) const {
  std::vector<bool> reaches(grammar_.edges.size(), false);
  for (const Rule& rule : grammar_.rules) reaches[index(rule.end)] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t state = grammar_.edges.size(); state-- > 0;) {  // chains are built forwards
      if (reaches[state]) continue;
      for (const Edge& edge : grammar_.edges[state]) {
        if (without_bytes && edge.kind == Edge::Kind::bytes) continue;
        if (!reaches[index(edge.to)]) continue;
        if (edge.kind == Edge::Kind::call && !reaches[index(begin(edge.rule))]) continue;
        reaches[state] = changed = true;
        break;
      }
    }
  }
  return reaches;
}

// Whether some rule can be inside itself before a byte was taken: following calls from the
// beginnings of rules, and past what may be empty, closes a cycle.
bool GrammarBuilder::left_recursive() const {
  const std::vector<bool> empty = reaching_end(true);
  enum class Mark : std::uint8_t { fresh, open, done };
  std::vector<Mark> marks(grammar_.edges.size(), Mark::fresh);
  struct Frame {
    StateId state;
    std::size_t next = 0;  // edge, twice: into the called rule, then past it
  };
  for (const Rule& rule : grammar_.rules) {
    std::vector<Frame> path;
    if (marks[index(rule.begin)] == Mark::fresh) path.push_back({rule.begin});
    while (!path.empty()) {
      Frame& frame = path.back();
      marks[index(frame.state)] = Mark::open;
      const auto& edges = grammar_.edges[index(frame.state)];
      if (frame.next == 2 * edges.size()) {
        marks[index(frame.state)] = Mark::done;
        path.pop_back();
        continue;
      }
      const Edge& edge = edges[frame.next / 2];
      const bool past = frame.next++ % 2 == 1;
      if (edge.kind == Edge::Kind::bytes || (edge.kind == Edge::Kind::free && past)) continue;
      if (edge.kind == Edge::Kind::call && past && !empty[index(begin(edge.rule))]) continue;
      const StateId to = edge.kind == Edge::Kind::call && !past ? begin(edge.rule) : edge.to;
      if (marks[index(to)] == Mark::open) return true;
      if (marks[index(to)] == Mark::fresh) path.push_back({to});
    }
  }
  return false;
}

Result<Grammar> GrammarBuilder::build() && {
  if (too_large_) {
    return fail(ErrorCode::bad_input, "the schema is too large: its grammar has more than " +
                                          std::to_string(kStates) + " states");
  }
  const std::vector<bool> reaches = reaching_end(false);
  if (!reaches[index(begin(0))]) {
    return fail(ErrorCode::bad_input, "no finite value satisfies the schema");
  }
  for (auto& edges : grammar_.edges) {
    std::erase_if(edges, [&](const Edge& edge) {
      const bool dead_call = edge.kind == Edge::Kind::call && !reaches[index(begin(edge.rule))];
      return dead_call || !reaches[index(edge.to)];
    });
  }
  if (left_recursive()) {
    return fail(ErrorCode::bad_input, "a $ref of the schema leads back to itself at once");
  }
  return std::move(grammar_);
}

}  // namespace serving

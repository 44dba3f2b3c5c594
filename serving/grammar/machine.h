// Runs a grammar: all the ways to read the bytes so far, as one set, and what each next byte makes
// of it. Sets and their successors are remembered, so that a walk over the vocabulary is mostly
// table look-ups.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "serving/grammar/grammar.h"

namespace serving {

class Machine {
 public:
  using Id = std::int32_t;  // of a set
  static constexpr Id kDead = -1;

  explicit Machine(std::shared_ptr<const Grammar> grammar);

  Id start() const { return 0; }
  Id step(Id at, std::uint8_t byte) {
    Id& known = next_[static_cast<std::size_t>(at)][byte];
    if (known == kUnknown) return find_step(at, byte);
    return known;
  }
  bool accepts(Id at) const { return accepts_[static_cast<std::size_t>(at)]; }
  bool may_go_on(Id at) const;  // some byte may come

  std::size_t size() const { return sets_.size(); }
  // Forgets all sets but this one, which gets a new id: bounds the memory of a long answer.
  Id forget_all_but(Id at);

 private:
  static constexpr Id kUnknown = -2;
  using StackId = std::int32_t;  // calls to come back from; -1: none
  struct Place {
    StateId state;
    StackId stack;
    auto operator<=>(const Place&) const = default;
  };
  using Set = std::vector<Place>;  // sorted

  Id find_step(Id at, std::uint8_t byte);
  Id intern(std::vector<Place> places);
  void close(std::vector<Place>& places) const;
  StackId push(StateId back, StackId below) const;

  std::shared_ptr<const Grammar> grammar_;
  std::vector<bool> is_end_;  // by state
  std::vector<Set> sets_;
  std::vector<bool> accepts_;
  std::vector<std::array<Id, 256>> next_;
  std::map<Set, Id> ids_;
  mutable std::vector<Place> stacks_;  // where to go on, and the stack below; by StackId
  mutable std::map<Place, StackId> stack_ids_;
};

}  // namespace serving

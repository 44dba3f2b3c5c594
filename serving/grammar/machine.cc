#include "serving/grammar/machine.h"

#include <algorithm>
#include <set>

namespace serving {
namespace {

std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }

}  // namespace

Machine::Machine(std::shared_ptr<const Grammar> grammar)
    : grammar_(std::move(grammar)), is_end_(grammar_->edges.size(), false) {
  for (const Rule& rule : grammar_->rules) is_end_[index(rule.end)] = true;
  intern({{grammar_->rules[0].begin, -1}});
}

bool Machine::may_go_on(Id at) const {
  const Set& set = sets_[index(at)];
  return std::any_of(set.begin(), set.end(), [&](const Place& place) {
    return !grammar_->edges[index(place.state)].empty();
  });
}

Machine::Id Machine::forget_all_but(Id at) {
  Set kept = std::move(sets_[index(at)]);
  sets_.clear();
  accepts_.clear();
  next_.clear();
  ids_.clear();
  return intern(std::move(kept));
}

Machine::Id Machine::find_step(Id at, std::uint8_t byte) {
  std::vector<Place> places;
  for (const Place& place : sets_[index(at)]) {
    for (const Edge& edge : grammar_->edges[index(place.state)]) {
      if (edge.kind == Edge::Kind::bytes && edge.low <= byte && byte <= edge.high) {
        places.push_back({edge.to, place.stack});
      }
    }
  }
  const Id to = places.empty() ? kDead : intern(std::move(places));
  return next_[index(at)][byte] = to;
}

Machine::Id Machine::intern(std::vector<Place> places) {
  close(places);
  const auto [found, fresh] = ids_.try_emplace(places, static_cast<Id>(sets_.size()));
  if (!fresh) return found->second;
  accepts_.push_back(std::any_of(places.begin(), places.end(), [&](const Place& place) {
    return place.stack == -1 && is_end_[index(place.state)];
  }));
  next_.emplace_back().fill(kUnknown);
  sets_.push_back(std::move(places));
  return found->second;
}

// Adds what is reached without a byte, and keeps where a byte can be taken or all is at its end.
void Machine::close(std::vector<Place>& places) const {
  std::set<Place> seen(places.begin(), places.end());
  std::vector<Place> open = std::move(places);
  places.clear();
  const auto reach = [&](Place place) {
    if (seen.insert(place).second) open.push_back(place);
  };
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    bool takes_byte = false;
    for (const Edge& edge : grammar_->edges[index(place.state)]) {
      if (edge.kind == Edge::Kind::free) reach({edge.to, place.stack});
      if (edge.kind == Edge::Kind::call) {
        reach({grammar_->rules[index(edge.rule)].begin, push(edge.to, place.stack)});
      }
      takes_byte = takes_byte || edge.kind == Edge::Kind::bytes;
    }
    const bool at_end = is_end_[index(place.state)];
    if (at_end && place.stack != -1) reach(stacks_[index(place.stack)]);
    if (takes_byte || (at_end && place.stack == -1)) places.push_back(place);
  }
  std::sort(places.begin(), places.end());
}

// A call whose way back leads nowhere but to the caller's end needs no place to come back to, so
// that a chain of such calls does not grow the stack.
Machine::StackId Machine::push(StateId back, StackId below) const {
  if (is_end_[index(back)]) return below;
  const auto [found, fresh] =
      stack_ids_.try_emplace(Place{back, below}, static_cast<StackId>(stacks_.size()));
  if (fresh) stacks_.push_back({back, below});
  return found->second;
}

}  // namespace serving

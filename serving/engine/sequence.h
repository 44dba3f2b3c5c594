// A request as the scheduler sees it: tokens, how many of them are computed, and what it holds.
#pragma once

#include <cstdint>
#include <vector>

#include "serving/engine/prefix_tree.h"
#include "serving/model/model.h"

namespace serving {

using SequenceId = std::uint64_t;  // grows with arrival

struct Sequence {
  SequenceId id = 0;
  std::vector<Token> tokens;  // the prompt, then the answer so far
  int prompt = 0;             // tokens of it
  int limit = 0;              // tokens that are computed at most: the last of an answer never is

  // While it runs. Waiting, or preempted, it holds nothing and `computed` is 0.
  int computed = 0;                 // tokens whose keys, values and state are in the caches
  std::vector<PageId> pages;        // of positions 0, 1, ...; some for tokens to come
  SlotId slot = -1;                 // the state after `computed` tokens
  NodeId node = PrefixTree::kRoot;  // pinned: the path of the whole blocks that the tree knows
  int published = 0;                // tokens on that path
  bool planned = false;             // has a chunk in the step under way

  // Of the whole life. Each token of the prompt is either cached or computed; what preemption makes
  // anew is counted apart.
  int reached = 0;  // the most that `computed` ever was
  int cached = 0;   // tokens of the prompt that were taken over from the tree

  int size() const { return static_cast<int>(tokens.size()); }
  int remaining() const { return size() - computed; }
};

}  // namespace serving

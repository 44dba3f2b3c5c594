// Merging neighbours, best pair first and of equal ones the leftmost: the core of both encoders.
#pragma once

#include <cstddef>
#include <optional>
#include <queue>
#include <string_view>
#include <vector>

namespace serving::tokenizer {

// A piece of the text; those merged into their left neighbour have no size.
struct Symbol {
  std::size_t begin = 0, size = 0;
  int before = -1, after = -1;  // neighbours in the list; -1: none
  int id = -1;                  // the encoder's own name of it; -1: no token
};

// `pair(left, right)` gives the merged symbol's id and how good the merge is (larger is better), or
// nothing.
struct Merged {
  int id = -1;
  double merit = 0;
};

// O(n log n) in the number of symbols. Symbols are in order, `before` and `after` not yet set.
template <class Pair>
void merge_symbols(std::vector<Symbol>& symbols, const Pair& pair) {
  struct Candidate {
    double merit;
    int left, right;
    std::size_t size;  // of both; another by now: the candidate is out of date
    int id;
    bool operator<(const Candidate& other) const {
      return merit != other.merit ? merit < other.merit : left > other.left;
    }
  };
  std::priority_queue<Candidate> queue;
  const auto consider = [&](int left, int right) {
    if (left < 0 || right < 0) return;
    if (std::optional<Merged> merged = pair(symbols[left], symbols[right])) {
      queue.push(
          {merged->merit, left, right, symbols[left].size + symbols[right].size, merged->id});
    }
  };
  const int count = int(symbols.size());
  for (int i = 0; i < count; ++i) {
    symbols[i].before = i - 1;
    symbols[i].after = i + 1 < count ? i + 1 : -1;
    consider(i - 1, i);
  }
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbols[best.left];
    Symbol& right = symbols[best.right];
    if (left.size == 0 || right.size == 0 || left.size + right.size != best.size) continue;
    left.size = best.size;
    left.id = best.id;
    left.after = right.after;
    right.size = 0;
    if (left.after >= 0) symbols[left.after].before = best.left;
    consider(left.before, best.left);
    consider(best.left, left.after);
  }
}

}  // namespace serving::tokenizer

#include "serving/engine/sequence_cache.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

namespace serving {
namespace {

std::span<const Token> tokens_of(const Sequence& sequence, int begin, int end) {
  return std::span<const Token>(sequence.tokens)
      .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

}  // namespace

SequenceCache::SequenceCache(const ModelShape& shape, const EngineOptions& options)
    : shape_(shape),
      prefix_cache_(options.prefix_cache),
      checkpoint_every_(options.checkpoint_every_pages * shape.page_tokens),
      pages_(shape.has_pages ? shape.pages : 0),
      slots_(shape.has_state ? shape.slots : 0),
      tree_(shape, pages_, slots_) {}

bool SequenceCache::admit(Sequence& sequence, int reserved) {
  assert(sequence.computed == 0 && sequence.pages.empty() && sequence.slot < 0);
  PrefixTree::Match match;
  if (prefix_cache_) match = tree_.match(tokens_of(sequence, 0, sequence.size() - 1));
  tree_.pin(match);
  sequence.node = match.node;
  if (shape_.has_pages) {
    for (NodeId node = match.node; node != PrefixTree::kRoot; node = tree_.parent(node)) {
      sequence.pages.push_back(tree_.page(node));
      pages_.use(tree_.page(node));
    }
    std::ranges::reverse(sequence.pages);
  }
  const bool room = pages_.available() - reserved >= missing_pages(sequence);
  const auto slot = room && shape_.has_state ? take_slot() : std::nullopt;
  if (!room || (shape_.has_state && !slot)) {
    release(sequence, false);
    return false;
  }
  sequence.slot = slot.value_or(-1);
  take_over(sequence, match);
  return true;
}

// Making room for the slot or the page may have evicted the very checkpoint or tail that matched.
// What they held is still there: in place, or to be copied before anyone writes.
void SequenceCache::take_over(Sequence& sequence, const PrefixTree::Match& match) {
  if (shape_.has_state) {
    if (match.checkpoint < 0) {
      operations_.push_back({CacheOperation::Kind::reset_slot, -1, sequence.slot});
    } else if (match.checkpoint != sequence.slot) {
      operations_.push_back({CacheOperation::Kind::copy_slot, match.checkpoint, sequence.slot});
    }
  }
  if (match.tail_page >= 0) {
    const auto page = take_page();
    assert(page);  // it was counted among the missing
    sequence.pages.push_back(*page);
    if (*page != match.tail_page) {
      operations_.push_back({CacheOperation::Kind::copy_page, match.tail_page, *page});
    }
  }
  sequence.computed = match.tokens;
  sequence.published = match.tokens / shape_.page_tokens * shape_.page_tokens;
}

int SequenceCache::missing_pages(const Sequence& sequence) const {
  if (!shape_.has_pages) return 0;
  const int tokens = std::min(sequence.size() + shape_.page_tokens, sequence.limit);
  const int pages = (tokens + shape_.page_tokens - 1) / shape_.page_tokens;
  return std::max(0, pages - static_cast<int>(sequence.pages.size()));
}

int SequenceCache::grow(Sequence& sequence, int end) {
  if (!shape_.has_pages) return end;
  const auto covered = [&] { return static_cast<int>(sequence.pages.size()) * shape_.page_tokens; };
  while (covered() < end) {
    const auto page = take_page();
    if (!page) break;
    sequence.pages.push_back(*page);
  }
  return std::min(end, covered());
}

void SequenceCache::advance(Sequence& sequence, int count) {
  sequence.computed += count;
  if (!prefix_cache_) return;
  publish(sequence);
  if (is_stop(sequence)) keep_end(sequence, false);
}

// With state, all of the prompt but its last token: that is what the same prompt can take over.
bool SequenceCache::is_stop(const Sequence& sequence) const {
  if (!shape_.has_state) return sequence.computed == sequence.prompt;
  return sequence.computed == sequence.prompt - 1 ||
         (sequence.remaining() > 0 && checkpoint_every_ > 0 &&
          sequence.computed % checkpoint_every_ == 0);
}

int SequenceCache::next_stop(const Sequence& sequence) const {
  int stop = std::numeric_limits<int>::max();
  if (!prefix_cache_ || !shape_.has_state) return stop;
  if (sequence.computed < sequence.prompt - 1) stop = sequence.prompt - 1;
  if (checkpoint_every_ > 0) {
    stop = std::min(stop, (sequence.computed / checkpoint_every_ + 1) * checkpoint_every_);
  }
  return stop;
}

void SequenceCache::release(Sequence& sequence, bool keep) {
  if (keep && prefix_cache_ && sequence.computed > 0) keep_end(sequence, true);
  for (const PageId page : sequence.pages) pages_.unuse(page);
  if (sequence.slot >= 0) slots_.give_back(sequence.slot);
  tree_.unpin(sequence.node);
  sequence.pages.clear();
  sequence.slot = -1;
  sequence.node = PrefixTree::kRoot;
  sequence.computed = sequence.published = 0;
}

// Where the tree knows a block already, its page takes the place of ours, which holds the same.
void SequenceCache::publish(Sequence& sequence) {
  for (; sequence.published + shape_.page_tokens <= sequence.computed;
       sequence.published += shape_.page_tokens) {
    const auto block =
        tokens_of(sequence, sequence.published, sequence.published + shape_.page_tokens);
    PageId* const own = page_at(sequence, sequence.published);
    sequence.node = tree_.extend(sequence.node, block, own != nullptr ? *own : -1);
    if (own == nullptr || *own == tree_.page(sequence.node)) continue;
    pages_.use(tree_.page(sequence.node));
    pages_.unuse(std::exchange(*own, tree_.page(sequence.node)));
  }
}

// Lets the tree know everything computed, up to the last token, and with state a checkpoint of it.
// The slot of a sequence that runs on is copied; the `last` one becomes the checkpoint.
void SequenceCache::keep_end(Sequence& sequence, bool last) {
  NodeId node = sequence.node;
  if (sequence.published < sequence.computed) {
    const PageId* const own = page_at(sequence, sequence.published);
    node = tree_.add_tail(node, tokens_of(sequence, sequence.published, sequence.computed),
                          own != nullptr ? *own : -1);
  }
  if (!shape_.has_state || node == PrefixTree::kRoot) return;
  if (tree_.checkpoint(node) < 0) {
    const auto slot = last ? std::exchange(sequence.slot, -1) : take_slot().value_or(-1);
    if (!last && slot >= 0) {
      operations_.push_back({CacheOperation::Kind::copy_slot, sequence.slot, slot});
    }
    if (slot >= 0) tree_.set_checkpoint(node, slot);
  }
  tree_.remove_if_useless(node);
}

PageId* SequenceCache::page_at(Sequence& sequence, int position) const {
  if (!shape_.has_pages) return nullptr;
  return &sequence.pages[static_cast<std::size_t>(position / shape_.page_tokens)];
}

std::optional<PageId> SequenceCache::take_page() {
  if (pages_.available() == 0) return {};
  while (pages_.free() == 0) {
    if (!tree_.evict_node()) return {};
  }
  return pages_.take();
}

std::optional<SlotId> SequenceCache::take_slot() {
  if (slots_.free() == 0) tree_.evict_checkpoint();
  return slots_.take();
}

}  // namespace serving

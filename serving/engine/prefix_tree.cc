#include "serving/engine/prefix_tree.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace serving {
namespace {

std::size_t common_prefix(std::span<const Token> a, std::span<const Token> b) {
  const std::size_t most = std::min(a.size(), b.size());
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(most);
  return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

}  // namespace

PrefixTree::PrefixTree(const ModelShape& shape, PagePool& pages, SlotPool& slots)
    : block_(static_cast<std::size_t>(shape.page_tokens)),
      has_pages_(shape.has_pages),
      has_state_(shape.has_state),
      pages_(pages),
      slots_(slots),
      nodes_(1) {}

PrefixTree::Match PrefixTree::match(std::span<const Token> tokens) const {
  Match whole;
  while (tokens.size() - static_cast<std::size_t>(whole.tokens) >= block_) {
    const NodeId next =
        child(whole.node, tokens.subspan(static_cast<std::size_t>(whole.tokens), block_));
    if (next == kRoot) break;
    whole.node = next;
    whole.tokens += static_cast<int>(block_);
  }
  return has_state_ ? deepest_checkpoint(whole, tokens) : longest_common(whole, tokens);
}

// From the deepest node upwards, and in each place the longest tail first.
PrefixTree::Match PrefixTree::deepest_checkpoint(Match whole, std::span<const Token> tokens) const {
  for (;;) {
    const auto rest = tokens.subspan(static_cast<std::size_t>(whole.tokens));
    for (std::size_t length = std::min(rest.size(), block_ - 1); length > 0; --length) {
      const NodeId tail = child(whole.node, rest.first(length));
      if (tail == kRoot) continue;  // a tail has a checkpoint, or it would have been useless
      return {.tokens = whole.tokens + static_cast<int>(length),
              .node = whole.node,
              .tail = tail,
              .tail_page = page(tail),
              .state = tail,
              .checkpoint = checkpoint(tail)};
    }
    if (whole.node == kRoot) return {};
    if (checkpoint(whole.node) >= 0) {
      whole.state = whole.node;
      whole.checkpoint = checkpoint(whole.node);
      return whole;
    }
    whole.node = parent(whole.node);
    whole.tokens -= static_cast<int>(block_);
  }
}

// Among sorted children, one of the two neighbours of the place has the most in common.
PrefixTree::Match PrefixTree::longest_common(Match whole, std::span<const Token> tokens) const {
  const auto rest = tokens.subspan(static_cast<std::size_t>(whole.tokens));
  const Node& node = at(whole.node);
  const auto after = place(node, rest);
  std::size_t best = 0;
  for (const bool before : {false, true}) {
    if (after == (before ? node.children.begin() : node.children.end())) continue;
    const NodeId candidate = before ? *(after - 1) : *after;
    const std::size_t common = common_prefix(at(candidate).tokens, rest);
    if (common <= best) continue;
    best = common;
    whole.tail = candidate;
    whole.tail_page = page(candidate);
  }
  whole.tokens += static_cast<int>(best);
  return whole;
}

void PrefixTree::pin(const Match& match) {
  for (NodeId node = match.node; node != kRoot; node = parent(node)) {
    if (at(node).pins++ == 0) unpinned_.remove(node);
  }
  if (match.tail != kRoot && at(match.tail).pins == 0) unpinned_.touch(match.tail);
  if (match.state != kRoot) checkpoints_.touch(match.state);
}

void PrefixTree::unpin(NodeId node) {
  // Upwards, so that parents come to stand behind their children.
  for (NodeId next = node; next != kRoot; next = parent(next)) {
    assert(at(next).pins > 0);
    if (--at(next).pins == 0) unpinned_.touch(next);
  }
  remove_if_useless(node);
}

NodeId PrefixTree::extend(NodeId parent, std::span<const Token> block, PageId page) {
  assert(block.size() == block_ && (parent == kRoot || at(parent).pins > 0));
  const NodeId node = find_or_make(parent, block, page);
  if (at(node).pins++ == 0) unpinned_.remove(node);
  return node;
}

NodeId PrefixTree::add_tail(NodeId parent, std::span<const Token> tokens, PageId page) {
  assert(!tokens.empty() && tokens.size() < block_ && (parent == kRoot || at(parent).pins > 0));
  const NodeId node = find_or_make(parent, tokens, page);
  unpinned_.touch(node);
  return node;
}

void PrefixTree::set_checkpoint(NodeId node, SlotId slot) {
  assert(has_state_ && node != kRoot && checkpoint(node) < 0);
  at(node).checkpoint = slot;
  checkpoints_.touch(node);
}

void PrefixTree::remove_if_useless(NodeId node) {
  while (has_state_ && node != kRoot && at(node).children.empty() && at(node).pins == 0 &&
         checkpoint(node) < 0) {
    remove(std::exchange(node, parent(node)));
  }
}

bool PrefixTree::evict_node() {
  const auto oldest = unpinned_.oldest();
  if (!oldest) return false;
  const NodeId above = parent(*oldest);
  remove(*oldest);
  remove_if_useless(above);
  return true;
}

bool PrefixTree::evict_checkpoint() {
  const auto oldest = checkpoints_.oldest();
  if (!oldest) return false;
  slots_.give_back(std::exchange(at(*oldest).checkpoint, -1));
  checkpoints_.remove(*oldest);
  remove_if_useless(*oldest);
  return true;
}

PrefixTree::Children::const_iterator PrefixTree::place(const Node& parent,
                                                       std::span<const Token> tokens) const {
  return std::lower_bound(parent.children.begin(), parent.children.end(), tokens,
                          [&](NodeId child, std::span<const Token> wanted) {
                            return std::ranges::lexicographical_compare(at(child).tokens, wanted);
                          });
}

NodeId PrefixTree::child(NodeId parent, std::span<const Token> tokens) const {
  const Node& node = at(parent);
  const auto found = place(node, tokens);
  return found != node.children.end() && std::ranges::equal(at(*found).tokens, tokens) ? *found
                                                                                       : kRoot;
}

NodeId PrefixTree::find_or_make(NodeId parent, std::span<const Token> tokens, PageId page) {
  if (const NodeId known = child(parent, tokens); known != kRoot) return known;
  if (unused_.empty()) {
    unused_.push_back(static_cast<NodeId>(nodes_.size()));
    nodes_.emplace_back();
  }
  const NodeId made = unused_.back();
  unused_.pop_back();
  Node& node = at(made);
  node.parent = parent;
  node.tokens.assign(tokens.begin(), tokens.end());
  node.page = page;
  if (has_pages_) pages_.keep(page);
  Children& siblings = at(parent).children;
  siblings.insert(place(at(parent), tokens), made);
  return made;
}

void PrefixTree::remove(NodeId node) {
  Node& gone = at(node);
  assert(gone.children.empty() && gone.pins == 0);
  Children& siblings = at(gone.parent).children;
  siblings.erase(place(at(gone.parent), gone.tokens));
  if (has_pages_) pages_.drop(std::exchange(gone.page, -1));
  if (gone.checkpoint >= 0) slots_.give_back(std::exchange(gone.checkpoint, -1));
  unpinned_.remove(node);
  checkpoints_.remove(node);
  unused_.push_back(node);  // its vectors keep their memory for the next one
}

void PrefixTree::assert_consistent() const {
  int seen = 0, unpinned = 0, kept = 0;
  std::vector<NodeId> open = {kRoot};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    const Node& node = at(id);
    int pins = 0;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const Node& next = at(node.children[i]);
      pins += next.pins;
      assert(next.parent == id && !next.tokens.empty() && next.tokens.size() <= block_);
      assert(i == 0 || at(node.children[i - 1]).tokens < next.tokens);
      open.push_back(node.children[i]);
    }
    if (id == kRoot) continue;
    ++seen;
    assert(node.pins >= pins && (node.tokens.size() == block_ || node.children.empty()));
    assert(unpinned_.contains(id) == (node.pins == 0));
    assert(checkpoints_.contains(id) == (node.checkpoint >= 0));
    assert(!has_pages_ || !pages_.is_free(node.page));
    assert(node.checkpoint < 0 || !slots_.is_free(node.checkpoint));
    assert(!has_state_ || !node.children.empty() || node.pins > 0 || node.checkpoint >= 0);
    unpinned += node.pins == 0;
    kept += node.checkpoint >= 0;
  }
  assert(seen == nodes() && unpinned == unpinned_.size() && kept == checkpoints_.size());
}

}  // namespace serving

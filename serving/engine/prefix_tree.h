// What is known of earlier sequences, for those that begin like them: a tree whose edges are blocks
// of tokens, as long as a page. A node is the sequence from the root to it, and keeps the page of
// its block; where the model has a recurrent state, a node may keep the state at its end (a
// checkpoint).
//
// A block shorter than a page is a *tail*: the end of a prompt or of an answer. It has no children.
// Its page may be shared with a sequence that goes on writing behind the tail's tokens, so whoever
// continues from a tail copies the page first.
//
// Running sequences pin the nodes of their path. All others are in order of last use, children
// before their parents, so that the oldest is always a leaf and may go. Where there is state, a
// leaf that is not pinned and has no checkpoint can serve nobody, and goes at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serving/engine/lru_list.h"
#include "serving/engine/pools.h"
#include "serving/model/model.h"

namespace serving {

using NodeId = std::int32_t;

class PrefixTree {
 public:
  static constexpr NodeId kRoot = 0;

  PrefixTree(const ModelShape& shape, PagePool& pages, SlotPool& slots);

  // How much of a sequence can be taken over.
  struct Match {
    int tokens = 0;
    NodeId node = kRoot;     // the path of its whole blocks
    NodeId tail = kRoot;     // kRoot, or the child of `node` that begins with the rest,
    PageId tail_page = -1;   // and its page, to be copied
    NodeId state = kRoot;    // kRoot, or the node whose checkpoint is the state after `tokens`,
    SlotId checkpoint = -1;  // and its slot, to be copied
  };
  // The longest one. With state it ends at a checkpoint; without, anywhere.
  Match match(std::span<const Token> tokens) const;

  // Keeps the path from being evicted, and marks what was matched as used now.
  void pin(const Match& match);
  void unpin(NodeId node);  // the path to it

  // The child of `parent` with that block, made if there is none; it keeps `page` (-1: the model
  // has none). `extend` takes a whole block and pins the child, whose parent must be pinned;
  // `add_tail` takes a shorter one and marks it as used now.
  NodeId extend(NodeId parent, std::span<const Token> block, PageId page);
  NodeId add_tail(NodeId parent, std::span<const Token> tokens, PageId page);

  void set_checkpoint(NodeId node, SlotId slot);  // there must be none; the slot is the tree's now
  void remove_if_useless(NodeId node);            // and its parents likewise

  // Gives back the node not used for longest: false where all are pinned. Frees a page unless that
  // is in use elsewhere.
  bool evict_node();
  bool evict_checkpoint();  // likewise, the slot of one; pinned nodes too

  PageId page(NodeId node) const { return at(node).page; }
  SlotId checkpoint(NodeId node) const { return at(node).checkpoint; }  // -1: none
  NodeId parent(NodeId node) const { return at(node).parent; }
  int nodes() const { return static_cast<int>(nodes_.size() - unused_.size()) - 1; }
  int checkpoints() const { return checkpoints_.size(); }

  void assert_consistent() const;  // for tests; linear in the size of the tree

 private:
  struct Node {
    NodeId parent = -1;
    std::vector<Token> tokens;
    std::vector<NodeId> children;  // by their tokens, lexicographically
    PageId page = -1;
    SlotId checkpoint = -1;
    int pins = 0;
  };
  using Children = std::vector<NodeId>;

  Node& at(NodeId node) { return nodes_[static_cast<std::size_t>(node)]; }
  const Node& at(NodeId node) const { return nodes_[static_cast<std::size_t>(node)]; }
  Children::const_iterator place(const Node& parent, std::span<const Token> tokens) const;
  NodeId child(NodeId parent, std::span<const Token> tokens) const;  // kRoot: none
  NodeId find_or_make(NodeId parent, std::span<const Token> tokens, PageId page);
  // `whole`: the longest match in whole blocks.
  Match deepest_checkpoint(Match whole, std::span<const Token> tokens) const;
  Match longest_common(Match whole, std::span<const Token> tokens) const;
  void remove(NodeId node);

  const std::size_t block_;
  const bool has_pages_, has_state_;
  PagePool& pages_;
  SlotPool& slots_;
  std::vector<Node> nodes_;     // [0]: the root
  std::vector<NodeId> unused_;  // of nodes_
  LruList unpinned_;
  LruList checkpoints_;
};

}  // namespace serving

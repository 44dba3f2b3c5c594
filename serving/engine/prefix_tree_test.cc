#include "serving/engine/prefix_tree.h"

#include <catch2/catch.hpp>
#include <vector>

#include "serving/engine/lru_list.h"

namespace serving {
namespace {

struct Fixture {
  explicit Fixture(bool has_state, int page_count = 8, int slot_count = 4)
      : pages(page_count),
        slots(slot_count),
        tree({.page_tokens = 4,
              .has_pages = true,
              .has_state = has_state,
              .pages = page_count,
              .slots = slot_count},
             pages, slots) {}

  // As a sequence does that ran and ended: whole blocks, then the tail.
  void insert(const std::vector<Token>& tokens, bool checkpoint = false) {
    NodeId node = PrefixTree::kRoot;
    const std::span<const Token> all(tokens);
    std::vector<PageId> taken;
    std::size_t begin = 0;
    for (; begin + 4 <= tokens.size(); begin += 4) {
      taken.push_back(*pages.take());
      node = tree.extend(node, all.subspan(begin, 4), taken.back());
    }
    NodeId last = node;
    if (begin < tokens.size()) {
      taken.push_back(*pages.take());
      last = tree.add_tail(node, all.subspan(begin), taken.back());
    }
    if (checkpoint) tree.set_checkpoint(last, *slots.take());
    for (const PageId page : taken) pages.unuse(page);
    tree.remove_if_useless(last);
    tree.unpin(node);
    tree.assert_consistent();
  }

  int matched(const std::vector<Token>& tokens) const { return tree.match(tokens).tokens; }

  PagePool pages;
  SlotPool slots;
  PrefixTree tree;
};

TEST_CASE("without state a match ends anywhere, in the middle of a block too") {
  Fixture f(false);
  f.insert({1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(f.matched({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) == 9);
  CHECK(f.matched({1, 2, 3, 4, 5, 6, 7, 8, 5}) == 8);
  CHECK(f.matched({1, 2, 3, 4, 5, 6, 0}) == 6);
  CHECK(f.matched({1, 2, 3}) == 3);
  CHECK(f.matched({2, 2, 3}) == 0);
  CHECK(f.matched({}) == 0);
}

TEST_CASE("the neighbour with the most in common is taken, on either side") {
  Fixture f(false);
  f.insert({1, 1, 1, 1});
  f.insert({1, 5, 5, 5});
  f.insert({1, 5, 9});
  f.insert({2, 2, 2, 2});
  CHECK(f.matched({1, 5, 7}) == 2);
  CHECK(f.matched({1, 5, 9, 9, 9}) == 3);
  CHECK(f.matched({1, 1, 1, 2}) == 3);
  CHECK(f.matched({2, 2, 2, 1}) == 3);
}

TEST_CASE("with state a match ends at a checkpoint") {
  Fixture f(true, 12);
  f.insert({1, 2, 3, 4, 5, 6}, true);
  f.insert({1, 2, 3, 4, 5, 6, 7, 8, 9}, true);
  CHECK(f.matched({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) == 9);
  CHECK(f.matched({1, 2, 3, 4, 5, 6, 7, 8, 0}) == 6);  // back from a whole block to a tail above
  CHECK(f.matched({1, 2, 3, 4, 5, 6, 0}) == 6);
  CHECK(f.matched({1, 2, 3, 4, 5, 0}) == 0);
  const auto match = f.tree.match(std::vector<Token>{1, 2, 3, 4, 5, 6, 0});
  CHECK(match.checkpoint == f.tree.checkpoint(match.state));
  CHECK(match.tail_page == f.tree.page(match.tail));
}

TEST_CASE("with state, what has no checkpoint serves nobody and goes at once") {
  Fixture f(true);
  f.insert({1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(f.tree.nodes() == 0);
  CHECK(f.pages.free() == 8);
  f.insert({1, 2, 3, 4, 5, 6, 7, 8}, true);
  CHECK(f.tree.nodes() == 2);
  REQUIRE(f.tree.evict_checkpoint());
  CHECK(f.tree.nodes() == 0);
  CHECK(f.slots.free() == 4);
}

TEST_CASE("the sequence that was not used for longest goes first, from its end") {
  Fixture f(false);
  f.insert({1, 1, 1, 1, 2, 2, 2, 2});
  f.insert({5, 5, 5, 5});
  const auto match = f.tree.match(std::vector<Token>{1, 1, 1, 1});
  f.tree.pin(match);
  f.tree.unpin(match.node);  // used again: now {5 ...} is older than {1 1 1 1}, not than its child
  REQUIRE(f.tree.evict_node());
  CHECK(f.matched({1, 1, 1, 1, 2, 2, 2, 2}) == 4);
  CHECK(f.matched({5, 5, 5, 5}) == 4);
  REQUIRE(f.tree.evict_node());
  CHECK(f.matched({5, 5, 5, 5}) == 0);
  CHECK(f.matched({1, 1, 1, 1}) == 4);
  REQUIRE(f.tree.evict_node());
  CHECK(!f.tree.evict_node());
  CHECK(f.pages.free() == 8);
}

TEST_CASE("what is pinned stays") {
  Fixture f(false);
  f.insert({1, 1, 1, 1, 2, 2, 2, 2});
  const auto match = f.tree.match(std::vector<Token>{1, 1, 1, 1, 2, 2, 2, 2});
  f.tree.pin(match);
  CHECK(!f.tree.evict_node());
  f.tree.unpin(match.node);
  CHECK(f.tree.evict_node());
}

TEST_CASE("the checkpoint that was not used for longest goes first") {
  Fixture f(true, 16);
  f.insert({1, 1}, true);
  f.insert({2, 2}, true);
  f.tree.pin(f.tree.match(std::vector<Token>{1, 1}));  // a tail is used, not pinned
  REQUIRE(f.tree.evict_checkpoint());
  CHECK(f.matched({1, 1}) == 2);
  CHECK(f.matched({2, 2}) == 0);
}

TEST_CASE("the list of last uses keeps its order") {
  LruList list;
  for (const int id : {4, 0, 7}) list.touch(id);
  list.touch(4);
  CHECK(list.size() == 3);
  CHECK(list.oldest() == 0);
  list.remove(0);
  list.remove(0);
  CHECK(list.oldest() == 7);
  list.remove(7);
  CHECK(list.oldest() == 4);
  list.remove(4);
  CHECK(!list.oldest());
  CHECK(!list.contains(4));
}

}  // namespace
}  // namespace serving

// The fake must behave as git does where the loop relies on it.
#include "orchestrator/simulator/fake_target.h"

#include <catch2/catch.hpp>

#include "orchestrator/simulator/toy_world.h"

namespace orchestrator {
namespace {

using hypotheses::CommitId;

FakeTree with(FakeTree tree, const std::string& path, const std::string& text) {
  tree.files[path] = text;
  return tree;
}

}  // namespace

TEST_CASE("fake target: the same content on the same parents is the same commit, and only then") {
  FakeTarget target(toy_world(1, true));
  const FakeTree& first = target.tree(target.tip());
  CommitId one = target.commit(with(first, "a", "1"), {target.tip()});
  CHECK(one.hex.size() == 40);
  CHECK(one == target.commit(with(first, "a", "1"), {target.tip()}));
  CHECK(one != target.commit(with(first, "a", "2"), {target.tip()}));
  CHECK(one != target.commit(with(first, "a", "1"), {one}));
}

TEST_CASE("fake target: a merge holds what both sides did, what both changed is a conflict") {
  FakeTarget target(toy_world(1, true));
  CommitId fork = target.tip();
  FakeTree theirs = with(target.tree(fork), "theirs", "x");
  theirs.knobs["toy.tile"] = "64";
  CommitId candidate = target.commit(theirs, {fork});
  CommitId base = target.push(with(target.tree(fork), "ours", "y"));
  auto merged = target.merge(base, candidate);
  REQUIRE(std::holds_alternative<CommitId>(merged));
  const FakeTree& tree = target.tree(std::get<CommitId>(merged));
  CHECK(tree.files.at("ours") == "y");
  CHECK(tree.files.at("theirs") == "x");
  CHECK(tree.knobs.at("toy.tile") == "64");

  base = target.push(with(target.tree(base), "theirs", "z"));
  auto conflict = target.merge(base, candidate);
  REQUIRE(std::holds_alternative<std::vector<std::string>>(conflict));
  CHECK(std::get<1>(conflict) == std::vector<std::string>{"theirs"});
}

TEST_CASE("fake target: landing compares and swaps, and may be repeated") {
  FakeTarget target(toy_world(1, true));
  CommitId first = target.tip();
  CommitId next = target.commit(with(target.tree(first), "a", "1"), {first});
  CHECK_FALSE(target.land(next, next));
  CHECK(target.tip() == first);
  CHECK(target.land(first, next));
  CHECK(target.land(first, next));
  CHECK(target.history() == std::vector<CommitId>{first, next});
}

}  // namespace orchestrator

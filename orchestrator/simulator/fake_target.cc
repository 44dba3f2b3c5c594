#include "orchestrator/simulator/fake_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/rng.h"

namespace orchestrator {

using hypotheses::CommitId;

namespace {

using Entries = std::map<std::string, std::string>;

// A name of forty hexadecimal digits that follows from the content.
CommitId name_of(const FakeTree& tree, const std::vector<CommitId>& parents) {
  std::string text;
  for (const auto& [name, value] : tree.knobs) text += fmt::format("knob {}={}\n", name, value);
  for (const auto& [path, content] : tree.files) text += fmt::format("file {}={}\n", path, content);
  for (const CommitId& parent : parents) text += fmt::format("parent {}\n", parent.hex);
  base::Rng rng(base::seed_from(0, text));
  return {fmt::format("{:016x}{:016x}{:08x}", rng.next(), rng.next(), rng.next() >> 32)};
}

std::optional<std::string> entry(const Entries& entries, const std::string& name) {
  auto found = entries.find(name);
  if (found == entries.end()) return {};
  return found->second;
}

void add_differences(const Entries& a, const Entries& b, std::set<std::string>& names) {
  for (const Entries* entries : {&a, &b}) {
    for (const auto& [name, value] : *entries) {
      if (entry(a, name) != entry(b, name)) names.insert(name);
    }
  }
}

// Entries of `theirs` where they differ from the fork, else of `ours`.
Entries merged(const Entries& fork, const Entries& ours, const Entries& theirs,
               std::vector<std::string>& conflicts) {
  Entries result = ours;
  std::set<std::string> changed;
  add_differences(fork, theirs, changed);
  for (const std::string& name : changed) {
    auto mine = entry(ours, name), other = entry(theirs, name);
    if (mine != entry(fork, name) && mine != other) conflicts.push_back(name);
    result.erase(name);
    if (other) result[name] = *other;
  }
  return result;
}

}  // namespace

std::vector<std::string> differences(const FakeTree& a, const FakeTree& b) {
  std::set<std::string> names;
  add_differences(a.knobs, b.knobs, names);
  add_differences(a.files, b.files, names);
  return {names.begin(), names.end()};
}

FakeTarget::FakeTarget(FakeWorld world) : world_(std::move(world)) {
  CommitId first = commit(world_.first, {});
  history_.push_back(first);
  for (const auto& [name, tree] : world_.branches) branches_[name] = commit(tree, {first});
}

const FakeTree& FakeTarget::tree(const CommitId& commit) const { return commits_.at(commit).tree; }

CommitId FakeTarget::branch(const std::string& name) const {
  auto found = branches_.find(name);
  return found == branches_.end() ? CommitId{} : found->second;
}

CommitId FakeTarget::push(FakeTree tree) {
  history_.push_back(commit(std::move(tree), {tip()}));
  return tip();
}

CommitId FakeTarget::commit(FakeTree tree, std::vector<CommitId> parents) {
  CommitId id = name_of(tree, parents);
  commits_.emplace(id, Commit{std::move(tree), std::move(parents)});
  return id;
}

std::set<CommitId> FakeTarget::ancestors(const CommitId& commit) const {
  std::set<CommitId> seen;
  std::vector<CommitId> open = {commit};
  while (!open.empty()) {
    CommitId next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    const auto& parents = commits_.at(next).parents;
    open.insert(open.end(), parents.begin(), parents.end());
  }
  return seen;
}

std::variant<CommitId, std::vector<std::string>> FakeTarget::merge(const CommitId& base,
                                                                   const CommitId& candidate) {
  auto known = ancestors(base);
  CommitId fork = candidate;  // candidates have one parent each
  while (known.count(fork) == 0) fork = commits_.at(fork).parents.front();
  std::vector<std::string> conflicts;
  FakeTree result;
  result.knobs = merged(tree(fork).knobs, tree(base).knobs, tree(candidate).knobs, conflicts);
  result.files = merged(tree(fork).files, tree(base).files, tree(candidate).files, conflicts);
  if (!conflicts.empty()) return conflicts;
  return commit(std::move(result), {base, candidate});
}

bool FakeTarget::land(const CommitId& expected, const CommitId& commit) {
  if (tip() == commit) return true;
  if (tip() != expected) return false;
  history_.push_back(commit);
  return true;
}

}  // namespace orchestrator

// A target in memory in place of a git repository: commits, a base branch that others push to, and
// what its builds, checks and benchmarks would say. For tests of the loop and for the simulator. It
// outlives the performers that work on it, as a repository outlives the processes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/rng.h"
#include "hypotheses/types.h"

namespace orchestrator {

// What a commit holds, besides the manifest.
struct FakeTree {
  std::map<std::string, std::string> knobs;
  std::map<std::string, std::string> files;
  auto operator<=>(const FakeTree&) const = default;
};

// How the target behaves, as functions of what a commit holds.
struct FakeWorld {
  std::string manifest;
  FakeTree first;                            // the base branch at the beginning
  std::map<std::string, FakeTree> branches;  // that somebody pushed, on top of the first commit
  // The true value of a metric; a run measures it with noise.
  std::function<double(const FakeTree&, const hypotheses::MetricKey&)> value;
  std::function<hypotheses::RunOutcome(const FakeTree&)> build, check;  // none = always ok
  // What a timeline of any commit says; none: that it cannot be read.
  std::optional<hypotheses::Timeline> timeline;
  double noise = 0;  // s.d. of a run's log value
  double drift = 0;  // s.d. of how far the machine wanders from one run to the next, likewise
  // Noise of one run in units of `noise` (none = normal), and what goes wrong with one launch (none
  // = nothing). The generator is that launch's own.
  std::function<double(base::Rng&)> draw;
  std::function<hypotheses::RunOutcome(const FakeTree&, base::Rng&)> mishap;
  double disturbed = 0;             // the probability that other processes disturb a run
  double build_s = 3, run_s = 0.2;  // what they take
  std::uint64_t seed = 1;           // of the noise
};

class FakeTarget {
 public:
  explicit FakeTarget(FakeWorld world);

  const FakeWorld& world() const { return world_; }
  const FakeTree& tree(const hypotheses::CommitId& commit) const;  // one of ours
  hypotheses::CommitId tip() const { return history_.back(); }     // of the base branch
  const std::vector<hypotheses::CommitId>& history() const { return history_; }  // its tips so far
  hypotheses::CommitId branch(const std::string& name) const;  // none when there is no such branch

  // Somebody pushes this onto the base branch.
  hypotheses::CommitId push(FakeTree tree);

  // The same content on the same parents is the same commit, as in git.
  hypotheses::CommitId commit(FakeTree tree, std::vector<hypotheses::CommitId> parents);

  // The merge commit, or the knobs and paths that both sides changed.
  std::variant<hypotheses::CommitId, std::vector<std::string>> merge(
      const hypotheses::CommitId& base, const hypotheses::CommitId& candidate);

  // Moves the base branch from `expected` to `commit`; true also when it stands there already.
  bool land(const hypotheses::CommitId& expected, const hypotheses::CommitId& commit);

  // What the build folders hold, also over restarts.
  bool is_built(const std::string& stamp) const { return built_.count(stamp) != 0; }
  void keep_build(const std::string& stamp) { built_.insert(stamp); }

 private:
  struct Commit {
    FakeTree tree;
    std::vector<hypotheses::CommitId> parents;
  };
  std::set<hypotheses::CommitId> ancestors(const hypotheses::CommitId& commit) const;

  FakeWorld world_;
  std::map<hypotheses::CommitId, Commit> commits_;
  std::map<std::string, hypotheses::CommitId> branches_;
  std::vector<hypotheses::CommitId> history_;
  std::set<std::string> built_;
};

// Names of the knobs and files in which two trees differ, sorted.
std::vector<std::string> differences(const FakeTree& a, const FakeTree& b);

}  // namespace orchestrator

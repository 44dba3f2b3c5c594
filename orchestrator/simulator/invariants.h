// What must hold after every step of the loop, whatever happens (docs/simulation.md has the table).
// Each violation begins with the invariant's name. For tests and for the simulator.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "orchestrator/orders.h"
#include "orchestrator/simulator/fake_target.h"
#include "orchestrator/simulator/ledger.h"
#include "orchestrator/state.h"
#include "store/store.h"
#include "web/api/ports.h"

namespace orchestrator {

struct Violation {
  std::string invariant;
  std::string what;
  std::string text() const { return invariant + ": " + what; }
};

class Invariants {
 public:
  explicit Invariants(const FakeTarget& target) : target_(target) {}

  // What happens, in its order: a person asks, a step is recorded, an order is given out.
  void asked(const web::Command& command);
  void committed(const store::Commit& commit);
  void ordered(const Order& order);

  // A new process: what the store holds must be what was recorded, no more and no less.
  void restarted(const store::Store& store, const State& state);

  // After each commit: the daemon's state says what was recorded, and nothing landed that may not.
  void check(const State& state);

  // Besides: nothing is running, pending or open any more.
  void check_end(const State& state);

  // Something that only the simulator sees.
  void add(std::string invariant, std::string what);

  const Ledger& ledger() const { return ledger_; }
  const std::vector<Violation>& broken() const { return broken_; }  // each once

 private:
  void check_record(const hypotheses::Fact& fact);
  void check_effect(const Effect& effect);
  void check_landed();
  void check_accounts(const State& state);

  const FakeTarget& target_;
  Ledger ledger_;
  std::vector<web::Approve> approvals_;  // that people asked for
  std::set<hypotheses::EffectId> ever_;  // effects of this process: an id may come back in the next
  std::set<hypotheses::EffectId> ordered_;  // by this process
  std::set<hypotheses::RunId> runs_;
  std::map<hypotheses::CommitId, hypotheses::MergeRequestId> made_;  // merge commits
  std::set<hypotheses::CommitId> sound_;  // of those, approved after they were measured
  std::size_t tips_seen_ = 1;
  std::set<std::string> told_;
  std::vector<Violation> broken_;
};

}  // namespace orchestrator

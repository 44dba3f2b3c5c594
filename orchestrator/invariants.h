// What must hold after every step of the loop, whatever happens. For tests and for the simulator.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "orchestrator/fake_target.h"
#include "orchestrator/state.h"

namespace orchestrator {

class Invariants {
 public:
  explicit Invariants(const FakeTarget& target) : target_(target) {}

  // Adds what does not hold to broken(); to be called after each commit.
  void check(const State& state);

  // Besides: nothing is running, pending or open any more.
  void check_end(const State& state);

  // How much longer than expected one attempt can take in this world: it is not cut off, so that
  // much may be spent beyond the budget, and then nothing more is begun.
  double surprise_s = 0;

  const std::vector<std::string>& broken() const { return broken_; }

 private:
  void check_budget(const State& state, const NightRecord& night);
  void check_experiment(const State& state, const ExperimentRecord& record);
  void check_landed(const State& state);
  void add(std::string what);

  const FakeTarget& target_;
  std::set<std::string> told_;
  std::vector<std::string> broken_;  // each once
};

}  // namespace orchestrator

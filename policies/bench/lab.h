// The machine of the benchmark: does what a strategy asks for, and writes the bill.
#pragma once

#include <set>
#include <vector>

#include "policies/bench/world.h"
#include "policies/evidence.h"

namespace policies::bench {

// What a pair of runs gives: the layer's metric, and at the engine the guard's too. All are times.
struct PairOfRuns {
  PairValues metric, guard;
};

// Which build of the candidate is measured.
enum class BuildOf { first, fresh };

class Lab {
 public:
  Lab(const World& world, const Recordings& recordings, std::uint64_t seed);

  const Prices& prices() const { return world_.prices; }
  double spent_s() const { return spent_s_; }

  bool build(const Case& subject);  // the candidate, warm; the base is built anyway
  bool check(const Case& subject);
  // The candidate from an empty folder, which gives it another code layout; the base too, once a
  // campaign.
  void build_fresh(const Case& subject);
  PairOfRuns pair(const Case& subject, hypotheses::Layer layer, BuildOf build);
  PairOfRuns pair_of_base(int campaign, hypotheses::Layer layer);  // A/A

 private:
  // Noise of one campaign's machine.
  struct Noise {
    Machine kernel, component, engine, guard;
  };
  PairOfRuns run(int campaign, hypotheses::Layer layer, double effect, double guard);

  const World& world_;
  std::vector<Noise> noise_;  // by campaign
  base::Rng rng_;
  std::set<int> bases_built_;  // anew, by campaign
  double fresh_jitter_ = 0;    // of the latest fresh build's layout
  double spent_s_ = 0;
};

}  // namespace policies::bench

// A way of deciding about the hypotheses of a world, and what it is worth.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policies/bench/lab.h"

namespace policies::bench {

enum class Outcome { rejected, accepted, inconclusive };

struct Strategy {
  std::string name;
  std::string settings;                                            // in words
  std::function<std::vector<Outcome>(const World&, Lab&)> decide;  // by case
};

// Counts over one world or several. Only resolvable cases are right or wrong; the bill is for all.
struct Score {
  double spent_s = 0;
  int cases = 0, resolvable = 0;
  int good = 0, bad = 0;  // resolvable ones that should be accepted, rejected
  int accepted = 0;       // all, resolvable or not
  int right = 0;
  int false_accepts = 0;        // of the bad
  int false_rejects = 0;        // of the good
  int missed_inconclusive = 0;  // of the good
  int inconclusive = 0;         // of all
  int inconclusive_resolvable = 0;
  int regressions = 0;  // accepted though slower at the goal, wrong, or breaking the guard

  void add(const Score& other);
  double s_per_right() const;
  double false_accept_rate() const;     // of the bad
  double false_reject_rate() const;     // of the good; inconclusive ones are no rejects
  double missed_rate() const;           // of the good: rejected or inconclusive
  double regression_rate() const;       // of the accepted
  double false_discovery_rate() const;  // false accepts, of the accepted that are resolvable
  double inconclusive_rate() const;     // of the resolvable
  double inconclusive_of_all() const;
  // Upper end of the one-sided 95% Clopper-Pearson interval.
  double false_accept_bound() const;
  double false_discovery_bound() const;
};

Score score(const World& world, const std::vector<Outcome>& outcomes, double spent_s);

// Lets the strategy decide about the world of the seed.
Score play(const Strategy& strategy, const WorldOptions& options, const Recordings& recordings,
           std::uint64_t seed);

}  // namespace policies::bench

#include "policies/bench/strategy.h"

#include <boost/math/distributions/binomial.hpp>
#include <cmath>

namespace policies::bench {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

double upper_bound(int successes, int trials) {
  if (trials == 0) return 1;
  if (successes >= trials) return 1;
  return boost::math::binomial_distribution<>::find_upper_bound_on_p(trials, successes, 0.05);
}

// Good ones that were accepted.
int true_accepts(const Score& score) {
  return score.good - score.false_rejects - score.missed_inconclusive;
}

bool is_regression(const Case& subject) {
  return !subject.correct || subject.goal < 0 || subject.guard <= -std::log1p(kGuardMargin);
}

}  // namespace

void Score::add(const Score& other) {
  spent_s += other.spent_s;
  cases += other.cases;
  resolvable += other.resolvable;
  good += other.good;
  bad += other.bad;
  accepted += other.accepted;
  right += other.right;
  false_accepts += other.false_accepts;
  false_rejects += other.false_rejects;
  inconclusive += other.inconclusive;
  inconclusive_resolvable += other.inconclusive_resolvable;
  missed_inconclusive += other.missed_inconclusive;
  regressions += other.regressions;
}

double Score::s_per_right() const { return right > 0 ? spent_s / right : spent_s; }
double Score::false_accept_rate() const { return ratio(false_accepts, bad); }
double Score::false_reject_rate() const { return ratio(false_rejects, good); }
double Score::missed_rate() const { return ratio(false_rejects + missed_inconclusive, good); }
double Score::regression_rate() const { return ratio(regressions, accepted); }
double Score::false_discovery_rate() const {
  return ratio(false_accepts, false_accepts + true_accepts(*this));
}
double Score::inconclusive_rate() const { return ratio(inconclusive_resolvable, resolvable); }
double Score::inconclusive_of_all() const { return ratio(inconclusive, cases); }
double Score::false_accept_bound() const { return upper_bound(false_accepts, bad); }
double Score::false_discovery_bound() const {
  return upper_bound(false_accepts, false_accepts + true_accepts(*this));
}

Score score(const World& world, const std::vector<Outcome>& outcomes, double spent_s) {
  Score made;
  made.spent_s = spent_s;
  for (std::size_t i = 0; i < world.cases.size(); ++i) {
    const Case& subject = world.cases[i];
    const Outcome outcome = outcomes[i];
    ++made.cases;
    made.inconclusive += outcome == Outcome::inconclusive ? 1 : 0;
    if (outcome == Outcome::accepted) {
      ++made.accepted;
      made.regressions += is_regression(subject) ? 1 : 0;
    }
    if (!subject.resolvable) continue;
    ++made.resolvable;
    ++(subject.worth_accepting ? made.good : made.bad);
    if (outcome == Outcome::inconclusive) {
      ++made.inconclusive_resolvable;
      made.missed_inconclusive += subject.worth_accepting ? 1 : 0;
    } else if ((outcome == Outcome::accepted) == subject.worth_accepting) {
      ++made.right;
    } else {
      ++(subject.worth_accepting ? made.false_rejects : made.false_accepts);
    }
  }
  return made;
}

Score play(const Strategy& strategy, const WorldOptions& options, const Recordings& recordings,
           std::uint64_t seed) {
  const World world = make_world(options, recordings, seed);
  Lab lab(world, recordings, base::seed_from(seed, strategy.name));
  const std::vector<Outcome> outcomes = strategy.decide(world, lab);
  return score(world, outcomes, lab.spent_s());
}

}  // namespace policies::bench

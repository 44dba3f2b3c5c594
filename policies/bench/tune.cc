#include "policies/bench/tune.h"

#include <algorithm>
#include <cmath>

namespace policies::bench {
namespace {

// Settings that break a limit are worse than any that do not, and by how much they break it.
double loss(const Score& score, const Limits& limits) {
  const double excess = std::max(0.0, score.false_accept_bound() - limits.false_accepts) +
                        std::max(0.0, score.false_discovery_bound() - limits.false_discoveries) +
                        std::max(0.0, score.missed_rate() - limits.missed);
  return score.s_per_right() * (1 + 100 * excess);
}

class Search {
 public:
  Search(const Tunable& competitor, const Limits& limits, const WorldOptions& options,
         const Recordings& recordings, const std::vector<std::uint64_t>& seeds)
      : competitor_(competitor),
        limits_(limits),
        options_(options),
        recordings_(recordings),
        seeds_(seeds) {}

  // Goes from dial to dial, each to its best choice, until a round changes nothing.
  void descend(std::vector<double> values) {
    double best = try_out(values);
    for (bool better = true; better;) {
      better = false;
      for (std::size_t i = 0; i < values.size(); ++i) {
        for (double choice : competitor_.dials[i].choices) {
          std::vector<double> other = values;
          other[i] = choice;
          if (const double its_loss = try_out(other); its_loss < best) {
            best = its_loss;
            values = std::move(other);
            better = true;
          }
        }
      }
    }
  }

  const Tuned& best() const { return best_; }

 private:
  double try_out(const std::vector<double>& values) {
    if (const auto found = known_.find(values); found != known_.end()) return found->second;
    const Strategy strategy = competitor_.make(values);
    Score sum;
    for (std::uint64_t seed : seeds_) sum.add(play(strategy, options_, recordings_, seed));
    const double its_loss = loss(sum, limits_);
    if (best_.values.empty() || its_loss < best_loss_) {
      best_ = {values, sum};
      best_loss_ = its_loss;
    }
    known_[values] = its_loss;
    return its_loss;
  }

  const Tunable& competitor_;
  const Limits& limits_;
  const WorldOptions& options_;
  const Recordings& recordings_;
  const std::vector<std::uint64_t>& seeds_;
  std::map<std::vector<double>, double> known_;
  Tuned best_;
  double best_loss_ = 0;
};

}  // namespace

Tuned tune(const Tunable& competitor, const Limits& limits, const WorldOptions& options,
           const Recordings& recordings, const std::vector<std::uint64_t>& seeds, int restarts) {
  Search search(competitor, limits, options, recordings, seeds);
  search.descend(competitor.tuned);
  base::Rng rng(base::seed_from(seeds.front(), competitor.name));
  for (int i = 0; i < restarts; ++i) {
    std::vector<double> values;
    for (const Dial& dial : competitor.dials) {
      values.push_back(dial.choices[rng.below(dial.choices.size())]);
    }
    search.descend(std::move(values));
  }
  return search.best();
}

}  // namespace policies::bench

#include "policies/fitness.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "policies/evidence.h"

namespace policies {
namespace {

hypotheses::Evidence aa(const std::vector<double>& x, bool exact = false) {
  std::vector<PairValues> pairs;
  for (double value : x) pairs.push_back({1000, 1000 * std::exp(-value)});
  const hypotheses::Metric metric{"time", hypotheses::Better::lower, "ns", exact, {}, {}};
  return weigh(pairs, {"time", {}}, metric, 0.05, 0, 10);
}

std::string word(Fitness fitness) {
  return fitness == Fitness::fit           ? "fit"
         : fitness == Fitness::quarantined ? "quarantined"
                                           : "coarse";
}

// Six A/A pairs of this s.d., symmetric about 0.
std::vector<double> noise(double s) { return {s, -s, s / 2, -s / 2, s, -s}; }

TEST_CASE("a machine's fitness: the first rule that holds, in the header's order") {
  struct Row {
    const char* what;
    hypotheses::Evidence evidence;
    bool exact;
    int affordable;
    const char* fitness;
    const char* part;  // of the reason
  };
  const Row rows[] = {
      {"no pair", aa({}), false, 40, "quarantined", "no A/A pair"},
      {"quiet", aa(noise(0.01)), false, 40, "fit", "noise 1.5% a pair over 6 A/A pairs"},
      {"all pairs equal", aa({0, 0, 0}), false, 40, "fit", "noise 0.0%"},
      {"differs from itself", aa(std::vector<double>(8, 0.3)), false, 40, "quarantined",
       "differs from itself"},
      {"too loud", aa(noise(0.9)), false, 40, "quarantined", "the policy allows 50%"},
      {"differs comes before loud", aa({0.5, 5, 0.6, 4, 0.7, 3, 0.8, 6}), false, 40, "quarantined",
       "differs from itself"},
      {"cannot tell the minimum gain", aa(noise(0.12)), false, 40, "coarse", "the cap is 40"},
      {"nor within the budget", aa(noise(0.02)), false, 8, "coarse", "the cap is 8"},
      {"fewer pairs than tell anything", aa(noise(0.02)), false, 3, "coarse", "tell nothing"},
      {"an exact counter that repeats", aa({0}, true), true, 40, "fit",
       "repeats exactly over 1 A/A"},
      {"one that does not", aa({0.01}, true), true, 40, "fit", "judged as noise"},
      {"one that never does", aa(noise(0.01), true), true, 40, "fit", "judged as noise"},
      {"one that depends on the side", aa(std::vector<double>(2, 0.01), true), true, 40,
       "quarantined", "differs from itself"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const FitnessJudgement judged =
        judge_fitness(row.evidence, row.exact, EvidenceRule(), row.affordable);
    INFO(judged.reason);
    CHECK(word(judged.fitness) == row.fitness);
    CHECK(judged.reason.find(row.part) != std::string::npos);
  }
}

TEST_CASE("what a machine cannot resolve is said with the numbers") {
  const FitnessJudgement judged = judge_fitness(aa(noise(0.12)), false, EvidenceRule(), 40);
  CHECK(judged.noise == Approx(0.12 * 1.4826));
  // About half the noise: what 40 pairs tell.
  CHECK(judged.smallest > 0.4 * judged.noise);
  CHECK(judged.smallest < 0.6 * judged.noise);
  CHECK(judged.reason.find("2% needs ") != std::string::npos);
  CHECK(judged.reason.find(" pairs at 17.8% noise; the cap is 40: only gains of ") !=
        std::string::npos);
}

TEST_CASE("an exact counter's noise is 0 when it repeats, else what it was seen to differ by") {
  CHECK(judge_fitness(aa({0}, true), true, {}, 40).noise == 0);
  CHECK(judge_fitness(aa({0.01}, true), true, {}, 40).noise == Approx(0.01));
}

}  // namespace
}  // namespace policies

#include "policies/failures.h"

#include <catch2/catch.hpp>
#include <iostream>

#include "base/rng.h"

namespace policies {
namespace {

std::string word(const Attempts& attempts) {
  const auto judgement = judge_failures(attempts, 0.05);
  return judgement ? std::string(to_text(judgement->verdict)) : "goes on";
}

TEST_CASE("failures: the first rule that holds, in the header's order") {
  struct Row {
    const char* what;
    Attempts attempts;  // both ran, base alone, candidate alone, both
    const char* verdict;
  };
  const Row rows[] = {
      {"none", {9, 0, 0, 0}, "goes on"},
      {"no attempt", {0, 0, 0, 0}, "goes on"},
      {"one may be the weather", {0, 0, 1, 0}, "goes on"},
      {"never ran", {0, 0, 2, 0}, "refuted"},
      {"ran once", {1, 0, 2, 0}, "goes on"},
      {"four alone", {9, 0, 4, 0}, "goes on"},
      {"five alone", {9, 0, 5, 0}, "refuted"},
      {"five alone of many", {30, 0, 5, 0}, "refuted"},
      {"five against one of the base", {30, 1, 5, 0}, "goes on"},
      {"the base failed once", {0, 1, 0, 0}, "goes on"},
      {"the base failed twice", {5, 2, 0, 0}, "invalid"},
      {"the base fails with the candidate", {5, 0, 0, 2}, "invalid"},
      {"before the candidate is blamed", {0, 1, 5, 1}, "invalid"},
      {"twice in twenty is not a tenth", {18, 2, 0, 0}, "goes on"},
      {"three in twenty is", {17, 3, 0, 0}, "invalid"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(word(row.attempts) == row.verdict);
  }
}

TEST_CASE("failures: what stands in the way of \"supported\"") {
  CHECK(failures_in_the_way({9, 0, 0, 0}, true).empty());
  CHECK(failures_in_the_way({9, 0, 1, 0}, false).empty());
  CHECK_FALSE(failures_in_the_way({9, 0, 1, 0}, true).empty());
  CHECK_FALSE(failures_in_the_way({9, 0, 2, 0}, false).empty());
  CHECK(failures_in_the_way({9, 1, 1, 0}, true).empty());
  CHECK(failures_text({8, 0, 1, 0}) == "1 of 9 attempts failed on the candidate alone");
  CHECK(failures_text({8, 0, 0, 1}).empty());
}

TEST_CASE("failures: the e-value is one of a fair coin") {
  CHECK(failure_e_value({100, 0, 0, 7}) == Approx(1));
  CHECK(failure_e_value({0, 0, 5, 0}) > 20);
  CHECK(failure_e_value({0, 0, 4, 0}) < 20);
  CHECK(failure_e_value({0, 3, 0, 0}) < 0.02);
  // Mean over the two outcomes of one more one-sided failure: unchanged.
  for (int n = 0; n < 6; ++n) {
    const double mean = (failure_e_value({0, n + 1, 3, 0}) + failure_e_value({0, n, 4, 0})) / 2;
    CHECK(mean == Approx(failure_e_value({0, n, 3, 0})));
  }
  CHECK(failure_e_value({0, 0, 100'000, 0}) == kLargestE);
}

TEST_CASE("failures: a probe that fails on both sides alike seldom refutes a candidate") {
  constexpr std::uint64_t kSeed = 20261201;
  std::cout << "seed " << kSeed << "\n";
  base::Rng rng(kSeed);
  for (double rate : {0.02, 0.1, 0.5}) {
    int refuted = 0;
    constexpr int kTrials = 2000;
    for (int i = 0; i < kTrials; ++i) {
      Attempts attempts;
      for (int n = 0; n < 40; ++n) {
        const bool base = rng.uniform() < rate, candidate = rng.uniform() < rate;
        ++(base ? (candidate ? attempts.both_failed : attempts.base_failed)
                : (candidate ? attempts.candidate_failed : attempts.both_ran));
        const auto judgement = judge_failures(attempts, 0.05);
        if (!judgement) continue;
        refuted += judgement->verdict == hypotheses::Verdict::refuted ? 1 : 0;
        break;
      }
    }
    INFO(rate);
    CHECK(refuted <= kTrials * 0.085);  // rule 2 adds up to 1/16 where half of all runs fail
  }
}

}  // namespace
}  // namespace policies

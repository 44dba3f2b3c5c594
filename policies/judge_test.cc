#include <catch2/catch.hpp>
#include <cmath>

#include "policies/evidence.h"
#include "policies/phrase.h"

namespace policies {
namespace {

using hypotheses::Evidence;
using hypotheses::Verdict;

// Evidence with its effect and interval in percent of speed gained.
Evidence measured(double effect, double low, double high, int pairs) {
  Evidence evidence;
  evidence.effect = std::log1p(effect / 100);
  evidence.low = std::log1p(low / 100);
  evidence.high = std::log1p(high / 100);
  evidence.pairs = pairs;
  evidence.unit = "ns";
  return evidence;
}

std::string word(const std::optional<Judgement>& judgement) {
  return judgement ? std::string(to_text(judgement->verdict)) : "one more pair";
}

TEST_CASE("judging a gain: the first rule that holds, in the header's order") {
  EvidenceRule rule;  // gain 2%, 3 to 40 pairs
  rule.no_difference = 0.01;
  struct Row {
    const char* what;
    double effect, low, high;
    int pairs, attempts;
    const char* verdict;
  };
  const Row rows[] = {
      {"inside the band", 0.1, -0.8, 0.9, 20, 20, "no-difference"},
      {"inside the band and above 0: no difference comes first", 0.6, 0.2, 0.9, 20, 20,
       "no-difference"},
      {"above 0 and large enough", 71, 65, 77, 7, 7, "supported"},
      {"above 0 but the estimate is too small", 1.9, 0.2, 3.5, 20, 20, "one more pair"},
      {"estimate large enough but not yet above 0", 5, -0.1, 9, 20, 20, "one more pair"},
      {"below 0", -5, -8, -2, 8, 8, "refuted"},
      {"surely below the minimum gain, and not worth naming", 0.5, -1.5, 1.9, 12, 12, "refuted"},
      {"just not surely below it", 0.5, -1.5, 2.1, 12, 12, "one more pair"},
      {"too few pairs", 71, 65, 77, 2, 2, "one more pair"},
      {"the cap", 3, -1, 6, 40, 40, "inconclusive"},
      {"the cap counts attempts, not pairs", 3, -1, 6, 12, 40, "inconclusive"},
      {"a decision at the cap is still one", 71, 65, 77, 40, 40, "supported"},
      {"too few pairs at the cap", 71, 65, 77, 2, 40, "inconclusive"},
      {"no pair at the cap", 0, -99, 900, 0, 40, "inconclusive"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(word(judge_gain(measured(row.effect, row.low, row.high, row.pairs), rule, false,
                          row.attempts)) == row.verdict);
  }
}

TEST_CASE("the gain is excluded: telling nothing from worse is worth some pairs, not many") {
  EvidenceRule rule;  // band and minimum gain 2%
  Evidence evidence = measured(0, -3, 1.9, 14);
  evidence.noise = 0.02;  // excluding the gain takes some 13 pairs at this noise
  struct Row {
    const char* what;
    double effect;
    int pairs;
    const char* verdict;
  };
  const Row rows[] = {
      {"plausibly nothing", 0, 14, "one more pair"},
      {"plausibly a small loss", -1.9, 14, "one more pair"},
      {"the estimate is a loss that counts", -2.2, 14, "refuted"},
      {"twice as long as excluding the gain takes", 0, 30, "refuted"},
      {"the cap", 0, 40, "refuted"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    evidence.effect = std::log1p(row.effect / 100);
    evidence.pairs = row.pairs;
    CHECK(word(judge_gain(evidence, rule, false, row.pairs)) == row.verdict);
  }
  evidence.pairs = 14;
  evidence.effect = 0;
  rule.naming_effort = 0;
  CHECK(word(judge_gain(evidence, rule, false, 14)) == "refuted");
  rule.naming_effort = 2;
  rule.no_difference = 0.001;  // out of reach
  CHECK(word(judge_gain(evidence, rule, false, 14)) == "refuted");
  rule.no_difference = 0;
  CHECK(word(judge_gain(evidence, rule, false, 14)) == "refuted");
}

TEST_CASE("a counter that does not repeat is judged as noise, and the reason says so") {
  const EvidenceRule rule;
  CHECK(word(judge_gain(measured(5, 3, 7, 2), rule, true, 2)) == "one more pair");
  const auto judged = judge_gain(measured(5, 3, 7, 8), rule, true, 8);
  REQUIRE(judged);
  CHECK(judged->verdict == Verdict::supported);
  CHECK(judged->reason.find("declared exact, but it does not repeat") != std::string::npos);
}

TEST_CASE("judging an exact counter: one pair is enough") {
  EvidenceRule rule;
  rule.no_difference = 0.01;
  for (const auto& [effect, verdict] :
       {std::pair{5.0, "supported"}, {-5.0, "refuted"}, {0.0, "no-difference"}, {1.5, "refuted"}}) {
    INFO(effect);
    CHECK(word(judge_gain(measured(effect, effect, effect, 1), rule, true, 1)) == verdict);
  }
}

TEST_CASE("judging a guard: the whole interval against the margin") {
  const EvidenceRule rule;
  struct Row {
    const char* what;
    double effect, low, high;
    int pairs, attempts;
    const char* verdict;
  };
  const Row rows[] = {
      {"surely within", 0, -3, 3, 8, 8, "supported"},
      {"better", 20, 15, 25, 8, 8, "supported"},
      {"surely beyond", -20, -25, -10, 8, 8, "refuted"},
      {"straddles the margin", -4, -9, 1, 8, 8, "one more pair"},
      {"straddles at the cap", -4, -9, 1, 40, 40, "inconclusive"},
      {"too few pairs", 0, -3, 3, 2, 2, "one more pair"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    CHECK(word(judge_guard(measured(row.effect, row.low, row.high, row.pairs), 0.05, rule, false,
                           row.attempts)) == row.verdict);
  }
}

TEST_CASE("a guard's margin is meant in the metric's own sense") {
  const EvidenceRule rule;
  Evidence evidence = measured(0, 0, 0, 8);
  evidence.low = evidence.high = evidence.effect = -0.05;  // a time of 1.0513, a rate of 0.9512
  evidence.better = hypotheses::Better::lower;
  CHECK(word(judge_guard(evidence, 0.05, rule, false, 8)) == "refuted");
  evidence.better = hypotheses::Better::higher;
  CHECK(word(judge_guard(evidence, 0.05, rule, false, 8)) == "supported");
}

TEST_CASE("judging a confirmation: the e-value against the level fixed beforehand") {
  const EvidenceRule rule;
  Evidence evidence = measured(5, 1, 9, 9);
  evidence.e_better = 99;
  CHECK(word(judge_confirmation(evidence, 0.01, rule, false, 9)) == "one more pair");
  CHECK(word(judge_confirmation(evidence, 0.01, rule, false, 40)) == "inconclusive");
  evidence.e_better = 101;
  CHECK(word(judge_confirmation(evidence, 0.01, rule, false, 9)) == "supported");
  CHECK(word(judge_confirmation(evidence, 0, rule, false, 9)) == "one more pair");
  evidence.effect = std::log1p(0.019);
  CHECK(word(judge_confirmation(evidence, 0.01, rule, false, 9)) == "one more pair");
  Evidence small = measured(0.5, -1, 1.9, 9);
  CHECK(word(judge_confirmation(small, 0.01, rule, false, 9)) == "refuted");
}

TEST_CASE("a flagged result is invalid, and never supported") {
  const EvidenceRule rule;
  Evidence evidence = measured(1100, 1000, 1200, 8);
  evidence.e_better = 1e9;
  evidence.flag = "above 10x";
  for (const auto& judgement :
       {judge_gain(evidence, rule, false, 8), judge_guard(evidence, 0.05, rule, false, 8),
        judge_confirmation(evidence, 0.01, rule, false, 8), judge_gain(evidence, rule, true, 1)}) {
    REQUIRE(judgement);
    CHECK(judgement->verdict == Verdict::invalid);
    CHECK(judgement->reason.starts_with("flagged: candidate is 12.00x faster"));
  }
  evidence.pairs = 2;  // one wild pair does not flag
  CHECK_FALSE(judge_gain(evidence, rule, false, 2));
}

TEST_CASE("reasons are sentences with the numbers") {
  const EvidenceRule rule;
  CHECK(judge_gain(measured(71, 65, 77, 7), rule, false, 7)->reason ==
        "candidate is 1.71x faster (95% interval 1.65x to 1.77x) after 7 pairs, needs +2%");
  CHECK(
      judge_gain(measured(0.3, -0.8, 0.9, 30), rule, false, 30)->reason ==
      "candidate is 0.3% faster (95% interval 0.8% slower to 0.9% faster) after 30 pairs, which is "
      "within +-2%");
  CHECK(judge_gain(measured(3, -1, 6, 38), rule, false, 40)->reason ==
        "candidate is 3.0% faster (95% interval 1.0% slower to 6.0% faster) after 38 pairs: not "
        "settled whether it gains the 2% needed at the cap of 40 attempts");
  Evidence counter = measured(25, 25, 25, 1);
  counter.unit = "1";
  CHECK(judge_gain(counter, rule, true, 1)->reason ==
        "candidate is exactly 1.25x better after 1 pair, needs +2%");
  Evidence early = measured(30, 0, 0, 2);
  early.low = -kUnbounded;
  early.high = kUnbounded;
  CHECK(measured_text(early, 0.05) ==
        "candidate is 1.30x faster (95% interval unbounded to unbounded) after 2 pairs");
}

TEST_CASE("counts are short") {
  CHECK(count_text(7) == "7");
  CHECK(count_text(7.25) == "7.2");
  CHECK(count_text(1250) == "1,250");
  CHECK(count_text(999'999) == "999,999");
  CHECK(count_text(1e9) == "1e+09");
}

}  // namespace
}  // namespace policies

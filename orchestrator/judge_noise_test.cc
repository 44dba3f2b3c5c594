// Runs that fail, and the A/A measurement that tells whether a machine is fit to measure.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/rng.h"
#include "orchestrator/test_judge.h"

namespace orchestrator::judging {

TEST_CASE("pairs: one failure may be the weather, the second on one side is that side's") {
  for (RunOutcome outcome : kFailures) {
    if (outcome == RunOutcome::build_failed) continue;
    for (Question question : {Question::own_metric, Question::carries_over, Question::guards}) {
      for (Side side : {Side::base, Side::candidate}) {
        CAPTURE(to_text(outcome), to_text(question), to_text(side));
        Side other = side == Side::base ? Side::candidate : Side::base;
        auto runs = record(question);
        add(runs, 0, side, outcome);
        add(runs, 0, other, RunOutcome::ok, 100);
        CHECK(next(runs).size() == 2);
        add(runs, 1, side, outcome);
        add(runs, 1, other, RunOutcome::ok, 100);
        Answer answer = answered(runs);
        CHECK(answer.verdict == (side == Side::base ? Verdict::invalid : Verdict::refuted));
        CHECK(holds(answer.reason, std::string(to_text(outcome)) + ": the detail"));
        REQUIRE(answer.evidence);
        CHECK(answer.evidence->key == kTime);
      }
    }
  }
}

TEST_CASE("pairs: where both sides fail together the candidate is not blamed") {
  auto runs = record(Question::own_metric);
  add(runs, 0, Side::base, RunOutcome::timeout);
  add(runs, 0, Side::candidate, RunOutcome::timeout);
  add(runs, 1, Side::base, RunOutcome::ok, 100);
  add(runs, 1, Side::candidate, RunOutcome::timeout);
  CHECK(next(runs).size() == 2);  // it failed once where the base ran
  add(runs, 2, Side::base, RunOutcome::timeout);
  add(runs, 2, Side::candidate, RunOutcome::ok, 100);
  CHECK(answered(runs).verdict == Verdict::invalid);
}

TEST_CASE("pairs: a gain waits while the candidate fails where the base runs") {
  auto runs = record(Question::own_metric);
  auto fail = [&] {
    const int attempt = runs.attempts;
    add(runs, attempt, Side::candidate, RunOutcome::crashed);
    add(runs, attempt, Side::base, RunOutcome::ok, 100);
  };
  JudgeRule known = rule();
  known.noise = 0.01;
  fail();
  for (int i = 0; i < 8; ++i) add_pair(runs, 100, 60 + 0.1 * i);
  Answer one = answered(runs, known);
  CHECK(one.verdict == Verdict::supported);
  CHECK(holds(one.reason, "1 of 9 attempts failed on the candidate alone (crashed: the detail)"));
  auto merge = runs;
  merge.experiment.merge = {3};
  Answer held = answered(merge, known);
  CHECK(held.verdict == Verdict::inconclusive);
  CHECK(holds(held.reason, "nothing is merged that failed where the base ran"));
  fail();
  CHECK(next(runs, known).size() == 2);  // twice: it has to become clear first
  auto capped = runs;
  while (capped.attempts < 40) add_pair(capped, 100, 60);
  CHECK(answered(capped, known).verdict == Verdict::inconclusive);
  for (int i = 0; i < 3; ++i) fail();
  Answer five = answered(runs, known);
  CHECK(five.verdict == Verdict::refuted);
  CHECK(holds(five.reason, "failed alone in 5 of 13 attempts"));
}

TEST_CASE("pairs: a value without a logarithm is a failure of its side, both 0 a tie") {
  JudgeRule known = rule();
  known.noise = 0.01;
  auto zero = record(Question::own_metric);
  for (int attempt = 0; attempt < 2; ++attempt) {
    add_pair(zero, 100, 1);
    zero.runs.back().observations[0].value = attempt == 0 ? 0 : -5;
  }
  Answer refuted = answered(zero, known);
  CHECK(refuted.verdict == Verdict::refuted);
  CHECK(holds(refuted.reason, "measured -5, where a positive value was expected"));
  auto tie = record(Question::own_metric);
  for (int attempt = 0; attempt < 5; ++attempt) {
    add_pair(tie, 1, 1);
    for (Run& run : tie.runs) run.observations[0].value = 0;
  }
  CHECK(next(tie, known).size() == 2);
}

TEST_CASE("pairs: lost runs are no failures, and half a pair is no pair") {
  auto runs = record(Question::own_metric);
  for (int attempt = 0; attempt < 5; ++attempt) {
    add(runs, attempt, Side::candidate, RunOutcome::lost);
    add(runs, attempt, Side::base, RunOutcome::ok, 100);
  }
  CHECK(next(runs).size() == 2);
  CHECK(good_pairs(runs).empty());
}

TEST_CASE("A/A: takes all its pairs, then says how far the machine differs from itself") {
  JudgeRule noise = rule();
  noise.is_noise = true;
  auto calm = record(Question::own_metric);
  calm.experiment.max_attempts = 12;
  auto biased = calm;
  base::Rng rng(3);
  for (int i = 0; i < 12; ++i) {
    CHECK(next(calm, noise).size() == 2);
    add_pair(calm, 100, 100 * std::exp(0.02 * (rng.uniform() - 0.5)));
    add_pair(biased, 100, 140 * std::exp(0.02 * (rng.uniform() - 0.5)));
  }
  Answer quiet = answered(calm, noise);
  CHECK(quiet.verdict == Verdict::no_difference);
  CHECK(quiet.evidence->noise > 0.001);
  CHECK(quiet.evidence->noise < 0.02);
  Answer unfit = answered(biased, noise);
  CHECK(unfit.verdict == Verdict::invalid);
  CHECK(holds(unfit.reason, "differs from itself"));
}

TEST_CASE("A/A: one pair tells whether an exact counter repeats") {
  JudgeRule noise = rule();
  noise.is_noise = true;
  auto same = record(Question::own_metric);
  same.experiment.max_attempts = 1;
  auto torn = same;
  add_pair(same, 1000, 1000);
  add_pair(torn, 1000, 990);
  CHECK(answered(same, noise, true).evidence->noise == 0);
  Answer answer = answered(torn, noise, true);
  CHECK(answer.verdict == Verdict::no_difference);
  CHECK(answer.evidence->noise == Approx(0.01).margin(0.001));
  CHECK(holds(answer.reason, "judged as noise"));
}

TEST_CASE("A/A: a base that fails is never the candidate's fault") {
  JudgeRule noise = rule();
  noise.is_noise = true;
  auto runs = record(Question::own_metric);
  for (int attempt = 0; attempt < 2; ++attempt) {
    add(runs, attempt, Side::candidate, RunOutcome::timeout);
    add(runs, attempt, Side::base, RunOutcome::ok, 100);
  }
  CHECK(answered(runs, noise).verdict == Verdict::invalid);
}

}  // namespace orchestrator::judging

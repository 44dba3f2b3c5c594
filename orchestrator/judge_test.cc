// Every outcome of a run, on either side, and what it means for the answer.
#include "orchestrator/judge.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/rng.h"
#include "orchestrator/test_judge.h"

namespace orchestrator::judging {

TEST_CASE("builds and correct: the candidate's run decides, where it is good") {
  for (Question question : {Question::builds, Question::correct}) {
    auto runs = record(question);
    CHECK(next(runs) == std::vector{Side::candidate});
    add(runs, 0, Side::candidate, RunOutcome::ok);
    Answer answer = answered(runs);
    CHECK(answer.verdict == Verdict::supported);
    CHECK(answer.question == question);
    CHECK(answer.experiment == hypotheses::ExperimentId{7});
    CHECK(holds(answer.reason, "1.5 s"));
  }
}

TEST_CASE("builds and correct: where the candidate fails, the base is asked before it is blamed") {
  for (Question question : {Question::builds, Question::correct}) {
    for (RunOutcome outcome : kFailures) {
      CAPTURE(to_text(question), to_text(outcome));
      auto runs = record(question);
      add(runs, 0, Side::candidate, outcome);
      if (outcome == RunOutcome::crashed ||
          outcome == RunOutcome::could_not_run) {  // by whom is not known: once more
        CHECK(next(runs) == std::vector{Side::candidate});
        add(runs, 1, Side::candidate, outcome);
      }
      CHECK(next(runs) == std::vector{Side::base});
      auto both = runs;
      add(runs, 1, Side::base, RunOutcome::ok);
      Answer refuted = answered(runs);
      CHECK(refuted.verdict == Verdict::refuted);
      CHECK(holds(refuted.reason, std::string(to_text(outcome)) + ": the detail"));
      for (RunOutcome base : kFailures) {
        auto failed = both;
        add(failed, 1, Side::base, base);
        Answer invalid = answered(failed);
        CHECK(invalid.verdict == Verdict::invalid);
        CHECK(holds(invalid.reason, "base fails too: " + std::string(to_text(base))));
      }
    }
  }
}

TEST_CASE("builds and correct: a run that was lost says nothing, on either side") {
  auto runs = record(Question::correct);
  add(runs, 0, Side::candidate, RunOutcome::lost);
  CHECK(next(runs) == std::vector{Side::candidate});
  add(runs, 1, Side::candidate, RunOutcome::failed_check);
  add(runs, 2, Side::base, RunOutcome::lost);
  CHECK(next(runs) == std::vector{Side::base});
  add(runs, 3, Side::base, RunOutcome::ok);
  CHECK(answered(runs).verdict == Verdict::refuted);
}

TEST_CASE("a good build that the check needed is not taken for the check") {
  auto runs = record(Question::correct);
  add(runs, 0, Side::candidate, RunOutcome::ok);
  runs.runs.back().measured = false;
  CHECK(next(runs) == std::vector{Side::candidate});
  add(runs, 0, Side::candidate, RunOutcome::failed_check);
  CHECK(next(runs) == std::vector{Side::base});
}

TEST_CASE("pairs: a build that fails ends the comparison at once") {
  auto candidate = record(Question::own_metric);
  add(candidate, 0, Side::candidate, RunOutcome::build_failed);
  CHECK(answered(candidate).verdict == Verdict::refuted);
  CHECK(holds(answered(candidate).reason, "does not build: the detail"));
  auto base = record(Question::own_metric);
  add(base, 0, Side::base, RunOutcome::build_failed);
  CHECK(answered(base).verdict == Verdict::invalid);
}

TEST_CASE("pairs: nodes of one processor are one machine, two processors are no evidence") {
  auto runs = record(Question::own_metric);
  const auto pair_on = [&](const std::string& machine) {
    add_pair(runs, 100, 60);
    for (std::size_t i = runs.runs.size() - 2; i < runs.runs.size(); ++i) {
      runs.runs[i].machine.machine = machine;
    }
  };
  pair_on("n1 on a (Xeon, 8 cores)");
  pair_on("n2 on b (Xeon, 4 cores)");
  CHECK(next(runs).size() == 2);
  pair_on("n3 on c (Epyc, 8 cores)");
  const Answer answer = answered(runs);
  CHECK(answer.verdict == Verdict::invalid);
  CHECK(holds(answer.reason, "(Xeon; Epyc)"));
  CHECK(holds(answer.reason, "resources.slurm.constraint"));
}

TEST_CASE("pairs: clear gains, losses and ties are told apart, and not before the minimum") {
  struct Row {
    double ratio;
    Verdict verdict;
  };
  for (const Row& row : {Row{0.6, Verdict::supported}, Row{1.4, Verdict::refuted},
                         Row{1.0, Verdict::no_difference}}) {
    CAPTURE(row.ratio);
    auto runs = record(Question::own_metric);
    base::Rng rng(5);
    JudgeRule known = rule();
    known.noise = 0.004;
    std::optional<Answer> found;
    while (!found) {
      REQUIRE(runs.attempts < 40);
      Outcome outcome = judge(runs, bench_manifest(), known);
      if (auto* answer = std::get_if<Answer>(&outcome)) {
        found = *answer;
      } else {
        double noise = 0.006 * (rng.uniform() - 0.5);
        add_pair(runs, 100, 100 * row.ratio * std::exp(noise));
      }
    }
    CHECK(found->verdict == row.verdict);
    CHECK(runs.attempts >= 3);
    REQUIRE(found->evidence);
    CHECK(found->evidence->effect == Approx(-std::log(row.ratio)).margin(0.01));
  }
}

TEST_CASE("pairs: an exact counter decides at the first pair") {
  auto runs = record(Question::own_metric);
  add_pair(runs, 100, 70);
  CHECK(answered(runs, rule(), true).verdict == Verdict::supported);
  auto worse = record(Question::own_metric);
  add_pair(worse, 100, 130);
  CHECK(answered(worse, rule(), true).verdict == Verdict::refuted);
  auto tie = record(Question::own_metric);
  add_pair(tie, 100, 100);
  CHECK(answered(tie, rule(), true).verdict == Verdict::no_difference);
}

TEST_CASE("pairs: at the cap of attempts the answer is inconclusive, never a guess") {
  auto runs = record(Question::own_metric);
  JudgeRule short_rule = rule();
  short_rule.evidence.max_pairs = 6;
  const double noisy[] = {90, 115, 97, 108, 88, 112};
  for (double candidate : noisy) {
    CHECK(next(runs, short_rule).size() == 2);
    add_pair(runs, 100, candidate);
  }
  CHECK(answered(runs, short_rule).verdict == Verdict::inconclusive);
}

TEST_CASE("pairs: a gain that is too good is flagged and not believed") {
  auto runs = record(Question::own_metric);
  add_pair(runs, 100, 1);
  Answer answer = answered(runs, rule(), true);
  CHECK(answer.verdict == Verdict::invalid);
  CHECK(holds(answer.reason, "above 10x"));
}

TEST_CASE("guards: a margin may be lost, more may not") {
  JudgeRule guard = rule();
  guard.guard_margin = 0.05;
  auto within = record(Question::guards);
  add_pair(within, 100, 103);
  CHECK(answered(within, guard, true).verdict == Verdict::supported);
  auto beyond = record(Question::guards);
  add_pair(beyond, 100, 108);
  CHECK(answered(beyond, guard, true).verdict == Verdict::refuted);
}

TEST_CASE("a merge is confirmed at its own level: what explores enough does not confirm enough") {
  auto runs = record(Question::own_metric);
  JudgeRule explore = rule();
  explore.noise = 0.01;
  JudgeRule confirm = explore;
  confirm.level = 1e-4;
  base::Rng rng(11);
  while (std::holds_alternative<NextAttempt>(judge(runs, bench_manifest(), explore))) {
    REQUIRE(runs.attempts < 40);
    add_pair(runs, 100, 80 * std::exp(0.01 * (rng.uniform() - 0.5)));
  }
  CHECK(answered(runs, explore).verdict == Verdict::supported);
  CHECK(next(runs, confirm).size() == 2);
  while (std::holds_alternative<NextAttempt>(judge(runs, bench_manifest(), confirm))) {
    REQUIRE(runs.attempts < 40);
    add_pair(runs, 100, 80 * std::exp(0.01 * (rng.uniform() - 0.5)));
  }
  CHECK(answered(runs, confirm).verdict == Verdict::supported);
}

TEST_CASE(
    "A/A: a machine that is too loud is unfit, one that is coarse is fit and says what it tells") {
  JudgeRule noise = rule();
  noise.is_noise = true;
  auto coarse = record(Question::own_metric);
  coarse.experiment.max_attempts = 6;
  auto loud = coarse;
  for (double ratio : {1.2, 0.85, 1.1, 0.9, 1.15, 0.8}) {
    add_pair(coarse, 100, 100 * ratio);
    add_pair(loud, 100, 100 * std::pow(ratio, 8));
  }
  Answer fit = answered(coarse, noise);
  CHECK(fit.verdict == Verdict::no_difference);
  CHECK(holds(fit.reason, "the cap is 40: only gains of "));
  noise.affordable_pairs = 7;
  CHECK(holds(answered(coarse, noise).reason, "the cap is 7"));
  Answer unfit = answered(loud, noise);
  CHECK(unfit.verdict == Verdict::invalid);
  CHECK(holds(unfit.reason, "the policy allows 50%"));
}

TEST_CASE("pairs: what falls short of the gain is given up where more pairs are dear") {
  auto runs = record(Question::own_metric);
  JudgeRule dear = rule();
  dear.noise = 0.02;
  dear.going_on = {120, 25};
  add_pair(runs, 100, 103);
  CHECK(next(runs, dear).size() == 2);
  add_pair(runs, 100, 104);
  Answer given_up = answered(runs, dear);
  CHECK(given_up.verdict == Verdict::refuted);
  CHECK(holds(given_up.reason, "not worth more pairs"));
  REQUIRE(given_up.evidence);
  CHECK(given_up.evidence->pairs == 2);

  JudgeRule cheap = dear, unknown = dear, never = dear;
  cheap.going_on = {0.5, 25};
  unknown.noise = 0;
  never.evidence.give_up = 0;
  for (const JudgeRule& other : {cheap, unknown, never}) CHECK(next(runs, other).size() == 2);
  runs.experiment.question = Question::guards;  // a guard is never given up
  CHECK(next(runs, dear).size() == 2);
}

TEST_CASE("pairs: a disturbed pair is set aside, up to an eighth of the cap, and repeated") {
  auto runs = record(Question::own_metric);
  runs.experiment.hypothesis = {1};
  runs.experiment.max_attempts = 16;
  for (int i = 0; i < 4; ++i) {
    add_pair(runs, 100, 90 + i);
    runs.runs.back().machine.disturbed = "other processes took 30% of its cores";
  }
  auto pairs = good_pairs(runs);
  REQUIRE(pairs.size() == 2);  // the first two are set aside, the others are how the machine is
  CHECK(pairs.front().candidate == 92);
  runs.experiment.hypothesis = {};  // A/A shows the machine as it is
  CHECK(good_pairs(runs).size() == 4);
}

TEST_CASE("a metric that no probe emits makes the answer invalid, and names it") {
  auto runs = record(Question::own_metric);
  runs.experiment.key.metric = "toy.gone";
  CHECK(answered(runs).verdict == Verdict::invalid);
  CHECK(holds(answered(runs).reason, "toy.gone"));
}

TEST_CASE("each pair's own coin says who goes first: both orders come up, the same every time") {
  std::set<std::vector<Side>> seen;
  int base_first = 0;
  for (int attempt = 0; attempt < 400; ++attempt) {
    auto order = coin_order(99, attempt);
    CHECK(order == coin_order(99, attempt));
    REQUIRE(order.size() == 2);
    CHECK(order[0] != order[1]);
    base_first += order[0] == Side::base ? 1 : 0;
  }
  CHECK(base_first > 160);
  CHECK(base_first < 240);
}

TEST_CASE("a pair counts by its key alone: other conditions and other metrics are left out") {
  auto runs = record(Question::own_metric);
  add_pair(runs, 100, 90);
  for (Run& run : runs.runs) {
    run.observations.insert(run.observations.begin(), {{{"toy.time", {{"batch", "8"}}}, 7, "ns"},
                                                       {{"toy.gates", {}}, 3, "1"}});
  }
  auto pairs = good_pairs(runs);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].base == 100);
  CHECK(pairs[0].candidate == 90);
}

}  // namespace orchestrator::judging

// The order of questions and of the queue, against the rules in prose of order.h; how claims of a
// lineage fared (track.h); what a share allows (reach.h).
#include "policies/order.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "policies/reach.h"

namespace policies {
namespace {

using hypotheses::Layer;
using hypotheses::Origin;
using hypotheses::Question;
using hypotheses::Verdict;

const Lineage kOfLlm{Layer::kernel, Origin::llm, "tiling"};

std::vector<Question> asked_in_order(const std::vector<PricedQuestion>& questions) {
  std::vector<Question> order;
  for (const RankedQuestion& ranked : order_questions(questions)) {
    order.push_back(questions[ranked.index].question);
  }
  return order;
}

TEST_CASE("builds, then correct, then whatever refutes for the least cost") {
  struct Row {
    const char* rule;
    std::vector<PricedQuestion> questions;
    std::vector<Question> order;
  };
  const Row rows[] = {
      {"builds before correct before timing, whatever they cost",
       {{Question::own_metric, 1, 0.9}, {Question::correct, 50, 0.1}, {Question::builds, 100, 0.1}},
       {Question::builds, Question::correct, Question::own_metric}},
      {"the least cost per probability of refuting",
       {{Question::carries_over, 1000, 0.5}, {Question::own_metric, 10, 0.5}},
       {Question::own_metric, Question::carries_over}},
      {"a likely refutation may cost more",
       {{Question::guards, 100, 0.05}, {Question::carries_over, 1000, 0.8}},
       {Question::carries_over, Question::guards}},
      {"what nothing can answer is known now",
       {{Question::own_metric, 10, 0.9}, {Question::carries_over, 0, 0.1}},
       {Question::carries_over, Question::own_metric}},
      {"ties keep their order",
       {{Question::guards, 10, 0.5}, {Question::own_metric, 10, 0.5}},
       {Question::guards, Question::own_metric}},
  };
  for (const Row& row : rows) {
    INFO(row.rule);
    CHECK(asked_in_order(row.questions) == row.order);
  }
}

TEST_CASE("only the first precedence is allowed, and the reason has the numbers") {
  const std::vector<PricedQuestion> questions = {{Question::own_metric, 14, 0.5},
                                                 {Question::carries_over, 1200, 0.5},
                                                 {Question::guards, 100, 0.1}};
  const auto order = order_questions(questions);
  CHECK(order[2].allowed);
  CHECK(
      why_next(questions, order) ==
      "own-metric next: 14 s at 50% to refute is 28 s per refutation; guards 1000 s; carries-over "
      "2400 s");
  const std::vector<PricedQuestion> early = {{Question::correct, 2, 0.1},
                                             {Question::builds, 30, 0.1}};
  CHECK(why_next(early, order_questions(early)) ==
        "builds next: 30 s at 10% to refute is 300 s per refutation; correct after that");
}

TEST_CASE("the cost to a verdict weighs each question with the chance that it is reached") {
  CHECK(cost_to_verdict_s({{Question::carries_over, 1000, 0.5}, {Question::own_metric, 10, 0.8}}) ==
        Approx(10 + 0.2 * 1000));
  CHECK(cost_to_verdict_s({}) == 0);
}

TEST_CASE("before any answer the priors hold, answers move their own groups most") {
  Track track;
  CHECK(p_refuting(track, kOfLlm, Question::own_metric).mean() == Approx(0.5));
  CHECK(p_refuting(track, kOfLlm, Question::builds).mean() == Approx(0.15));
  for (int i = 0; i < 12; ++i) {
    record_answer(track, kOfLlm, Question::own_metric, Verdict::refuted);
  }
  const double same = p_refuting(track, kOfLlm, Question::own_metric).mean();
  const double sibling =
      p_refuting(track, {Layer::kernel, Origin::llm, "fusion"}, Question::own_metric).mean();
  const double other =
      p_refuting(track, {Layer::engine, Origin::person, ""}, Question::own_metric).mean();
  CHECK(same > 0.9);
  CHECK(same >= sibling);
  CHECK(sibling > other);
  CHECK(other > 0.5);
  CHECK(p_refuting(track, kOfLlm, Question::builds).mean() == Approx(0.15));
}

TEST_CASE("no-difference refutes, inconclusive and invalid say nothing") {
  Track track;
  record_answer(track, kOfLlm, Question::correct, Verdict::inconclusive);
  record_answer(track, kOfLlm, Question::correct, Verdict::invalid);
  CHECK(track.groups.empty());
  record_answer(track, kOfLlm, Question::correct, Verdict::no_difference);
  CHECK(p_refuting(track, kOfLlm, Question::correct).mean() > 0.15);
  CHECK(track.groups.size() == 4);
}

TEST_CASE("predictions are shrunk to what such predictions turned out to be, not by one of them") {
  Track track;
  CHECK(shrink(track, kOfLlm) == 1);
  record_size(track, kOfLlm, 0.4, 0.001);
  CHECK(shrink(track, kOfLlm) == 1);
  for (int i = 0; i < 6; ++i) record_size(track, kOfLlm, 0.4, 0.1);
  CHECK(shrink(track, kOfLlm) == Approx(0.25));
  CHECK(shrink(track, {Layer::component, Origin::llm, ""}) == Approx(0.25));
  record_size(track, kOfLlm, 0, 0.1);
  for (int i = 0; i < 200; ++i) record_size(track, kOfLlm, 0.1, 0.9);
  CHECK(shrink(track, kOfLlm) == 1);  // never more than was promised
  CHECK(track.groups.at("").ratios.size() < 50);
}

TEST_CASE("the queue: a person's first, then the greatest hopeful gain per cost") {
  const Track track;
  const std::vector<PricedQuestion> cheap = {{Question::own_metric, 20, 0}};
  const std::vector<PricedQuestion> dear = {{Question::own_metric, 20, 0},
                                            {Question::carries_over, 2000, 0}};
  const std::vector<Outlook> outlooks = {outlook(track, kOfLlm, cheap, 1),
                                         outlook(track, kOfLlm, dear, 1),
                                         outlook(track, kOfLlm, cheap, 0.1)};
  const std::vector<Queued> queue = {
      {1, 0.3, false}, {2, 0.3, false}, {0, 0.2, false}, {2, 0.01, true}, {0, 0.2, false}};
  std::vector<std::size_t> order;
  for (const RankedHypothesis& ranked : order_queue(queue, outlooks)) order.push_back(ranked.index);
  CHECK(order == std::vector<std::size_t>{3, 2, 4, 1, 0});
  CHECK(best_queued(queue, outlooks) == 3);
  CHECK_FALSE(best_queued({}, outlooks));
}

TEST_CASE("a lineage that nobody tried is hoped for, one that failed often is not") {
  Track track;
  for (int i = 0; i < 30; ++i) {
    const Verdict verdict = i % 5 == 0 ? Verdict::supported : Verdict::refuted;
    record_answer(track, kOfLlm, Question::own_metric, verdict);
  }
  const std::vector<PricedQuestion> questions = {{Question::own_metric, 20, 0}};
  const Outlook tried = outlook(track, kOfLlm, questions, 1);
  const Outlook untried = outlook(track, {Layer::kernel, Origin::builtin, ""}, questions, 1);
  CHECK(tried.p_supported == Approx(untried.p_supported).margin(0.1));
  CHECK(untried.p_hopeful > tried.p_hopeful + 0.05);
  CHECK(tried.p_hopeful > tried.p_supported);
  CHECK(why_worth({0, std::log1p(0.12), false}, untried)
            .starts_with("+12% of the goal if it holds "
                         "(predicted +12%"));
}

TEST_CASE("the best of ten thousand is the first of their order") {
  std::vector<Outlook> outlooks(50);
  for (std::size_t i = 0; i < outlooks.size(); ++i) outlooks[i].cost_s = 10 + i * 37 % 50;
  std::vector<Queued> queue;
  for (std::size_t i = 0; i < 10'000; ++i) {
    queue.push_back({i % 50, 0.001 * static_cast<double>(i % 977), i % 1000 == 999});
  }
  const auto order = order_queue(queue, outlooks);
  CHECK(order.size() == queue.size());
  CHECK(best_queued(queue, outlooks) == order.front().index);
  CHECK(queue[order[9].index].by_person);
  CHECK_FALSE(queue[order[10].index].by_person);
}

TEST_CASE("Amdahl: what a share dilutes, and what it takes to make up for it") {
  CHECK(diluted(std::log(0.5), 1) == std::log(0.5));
  CHECK(diluted(std::log(0.5), 0.2) == Approx(std::log(0.9)));
  CHECK(diluted(std::log(0.5), 0) == 0);
  const auto needed = needed_gain(-std::log(0.9), 0.2);
  REQUIRE(needed);
  CHECK(*needed == Approx(std::log(2.0)));
  CHECK(*needed_gain(0.02, 1) == Approx(0.02));
  CHECK_FALSE(needed_gain(std::log1p(0.02), 0.019));  // not even if it took no time
  CHECK_FALSE(needed_gain(0.02, 0));
  CHECK(*needed_gain(0, 0.5) == 0);
}

TEST_CASE("a share raises the minimum gain of the own metric, with the benefit of the doubt") {
  const EvidenceRule rule;  // minimum gain 2%
  CHECK(rule_for_share(rule, 1)->min_gain == Approx(0.02));
  CHECK(rule_for_share(rule, 0.8)->min_gain == Approx(0.02));
  const auto raised = rule_for_share(rule, 0.1);
  REQUIRE(raised);
  CHECK(std::log1p(raised->min_gain) == Approx(*needed_gain(std::log1p(0.02), 0.1 * kShareDoubt)));
  CHECK(raised->alpha == rule.alpha);
  CHECK_FALSE(rule_for_share(rule, 0.01));
}

}  // namespace
}  // namespace policies

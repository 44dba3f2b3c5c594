#include "policies/choice.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "policies/pairs.h"

namespace policies {
namespace {

using hypotheses::Alternative;
using hypotheses::Layer;
using hypotheses::Manifest;
using hypotheses::Metric;
using hypotheses::Probe;
using hypotheses::ProbeKind;
using hypotheses::Question;

Probe probe(const std::string& name, ProbeKind answers, Layer layer) {
  Probe made;
  made.name = name;
  made.answers = answers;
  made.layer = layer;
  made.covers = {"kernels/kda/**", "knob:kda.*"};
  return made;
}

Metric emitted(const std::string& name, bool exact = false) {
  return {name, hypotheses::Better::lower, "ns", exact, {}};
}

Manifest manifest() {
  Manifest made;
  Probe check = probe("kda.check", ProbeKind::correctness, Layer::kernel);
  Probe bench = probe("kda.bench", ProbeKind::speed, Layer::kernel);
  bench.conditions = {{"batch", {"1", "8"}}};
  bench.metrics = {{"kda.time", emitted("kda.time")}, {"kda.gates", emitted("kda.gates", true)}};
  Probe slow = probe("kda.slow_bench", ProbeKind::speed, Layer::kernel);
  slow.conditions = {{"batch", {"1"}}};
  slow.metrics = {{"kda.time", emitted("kda.time")}};
  Probe serve = probe("serve", ProbeKind::serving, Layer::engine);
  serve.metrics = {{"serve.tokens_per_s", emitted("serve.tokens_per_s")},
                   {"serve.ttft_p99", emitted("serve.ttft_p99")}};
  serve.timeout_s = 300;
  serve.resources.cores = 2;
  Probe trace = probe("trace", ProbeKind::timeline, Layer::engine);
  trace.metrics = serve.metrics;
  for (const Probe& each : {check, bench, slow, serve, trace}) made.probes[each.name] = each;
  return made;
}

// Seen often enough that no prior shows.
Costs seen(double seconds) {
  Costs costs;
  for (int i = 0; i < 5; ++i) costs.add(seconds);
  return costs;
}

Learned learned() {
  Learned known;
  known.run = {{"kda.check", seen(0.2)},
               {"kda.bench", seen(0.5)},
               {"kda.slow_bench", seen(4)},
               {"serve", seen(20)}};
  known.noise = {{"kda.time{batch=1}", 0.02},
                 {"kda.time{batch=8}", 0.03},
                 {"serve.tokens_per_s", 0.04},
                 {"serve.ttft_p99", 0.04}};
  known.build_cold = seen(40);
  known.build_warm = seen(10);
  return known;
}

OpenQuestion asked(Question question, const std::string& metric, double predicted) {
  OpenQuestion made;
  made.question = question;
  made.key.metric = metric;
  made.predicted = predicted;
  made.knobs = {"kda.v_tile"};
  made.candidate_is_warm = true;
  return made;
}

Choice choose(const OpenQuestion& question, double remaining_s = 10'000) {
  return choose_experiment(question, manifest(), learned(), Policy(), remaining_s);
}

const Alternative& named(const Choice& choice, const std::string& name) {
  for (const Alternative& alternative : choice.alternatives) {
    if (alternative.probe == name) return alternative;
  }
  FAIL("no alternative " << name);
  return choice.alternatives.front();
}

TEST_CASE("builds is answered by the reserved probe, at the price of a build") {
  const Choice choice = choose(asked(Question::builds, "", 0));
  REQUIRE(choice.chosen);
  CHECK(choice.chosen->probe == "build");
  CHECK(choice.chosen->cost_s == 10);
}

TEST_CASE("correct is answered by a covering correctness probe alone") {
  const Choice choice = choose(asked(Question::correct, "", 0));
  REQUIRE(choice.chosen);
  CHECK(choice.chosen->probe == "kda.check");
  CHECK(choice.chosen->cost_s == Approx(0.2));
  CHECK(choice.alternatives.size() == 5);
  CHECK(named(choice, "serve").reason == "answers serving, not whether the change is correct");
}

TEST_CASE("own metric: the cheapest probe at the subject's layer that emits it in its condition") {
  OpenQuestion question = asked(Question::own_metric, "kda.time", 0.3);
  question.key.conditions = {{"batch", "1"}};
  const Choice choice = choose(question);
  REQUIRE(choice.chosen);
  CHECK(choice.chosen->probe == "kda.bench");
  CHECK(choice.chosen->key == question.key);
  CHECK(choice.chosen->noise == 0.02);
  CHECK(choice.chosen->pairs >= 6);
  CHECK(choice.chosen->cost_s == Approx(2 * choice.chosen->pairs * 0.5));
  CHECK(choice.alternatives.front().probe == "kda.bench");
  CHECK(named(choice, "kda.slow_bench").can_answer);
  CHECK(named(choice, "kda.slow_bench").cost_s > choice.chosen->cost_s);
  CHECK_FALSE(named(choice, "serve").can_answer);
  CHECK(choice.reason.find("the cheapest of 2 that can answer; next is kda.slow_bench") !=
        std::string::npos);
}

TEST_CASE("a metric asked for without a condition is weighed in each of them") {
  const Choice choice = choose(asked(Question::own_metric, "kda.time", 0.3));
  REQUIRE(choice.chosen);
  CHECK(choice.chosen->key.conditions.at("batch") == "1");  // less noise
  int of_bench = 0;
  for (const Alternative& each : choice.alternatives) of_bench += each.probe == "kda.bench" ? 1 : 0;
  CHECK(of_bench == 2);
}

TEST_CASE("an exact counter needs one pair, however small the effect") {
  const Choice choice = choose(asked(Question::own_metric, "kda.gates", 0.001));
  REQUIRE(choice.chosen);
  CHECK(choice.chosen->pairs == 1);
  CHECK(choice.chosen->noise == 0);
}

TEST_CASE("carries over is asked of the goal's probe, with the effect diluted by the share") {
  OpenQuestion question = asked(Question::carries_over, "serve.tokens_per_s", std::log(2.0));
  const Choice full = choose(question);
  question.share["serve.tokens_per_s"] = 0.1;
  const Choice small = choose(question);
  REQUIRE(full.chosen);
  REQUIRE(small.chosen);
  CHECK(small.chosen->probe == "serve");
  CHECK(small.chosen->share == 0.1);
  CHECK(small.chosen->pairs > full.chosen->pairs);
  CHECK_FALSE(named(full, "trace").can_answer);
}

TEST_CASE("an effect that the cap cannot resolve at half the noise is refused with the numbers") {
  Learned noisy = learned();
  for (auto& [key, noise] : noisy.noise) noise = 0.2;
  const auto question = asked(Question::carries_over, "serve.tokens_per_s", 0.01);
  const Choice choice = choose_experiment(question, manifest(), noisy, Policy(), 10'000);
  CHECK_FALSE(choice.chosen);
  CHECK(choice.reason.starts_with(
      "nothing can answer \"carries-over\"; nearest is serve: a 1.01% effect at 20% noise needs "));
  CHECK(choice.reason.ends_with("pairs; the cap is 40"));
  CHECK(named(choice, "serve").pairs > 160);
  // What comparisons alone have shown refuses nothing: else it would never be measured again.
  noisy.seen_noise = noisy.noise;
  noisy.noise.clear();
  CHECK(choose_experiment(question, manifest(), noisy, Policy(), 10'000).chosen);
}

TEST_CASE("unmeasured noise is assumed, said so, and refuses nothing") {
  Learned known = learned();
  known.noise.clear();
  const Choice choice = choose_experiment(
      asked(Question::carries_over, "serve.tokens_per_s", 0.005), manifest(), known, Policy(), 1e9);
  REQUIRE(choice.chosen);
  CHECK(choice.chosen->noise == 0.03);
  CHECK(choice.reason.find("noise not measured yet, assumed") != std::string::npos);
}

TEST_CASE("what the budget cannot pay cannot answer") {
  const Choice choice = choose(asked(Question::carries_over, "serve.tokens_per_s", 0.3), 60);
  CHECK_FALSE(choice.chosen);
  CHECK(choice.reason.find("60.0 s of the budget are left") != std::string::npos);
}

TEST_CASE("a guard is asked of a probe that emits it, by its margin") {
  OpenQuestion question = asked(Question::guards, "serve.ttft_p99", 0);
  question.margin = 0.15;
  const Choice choice = choose(question);
  REQUIRE(choice.chosen);
  CHECK(choice.chosen->probe == "serve");
  question.margin = 0.001;
  CHECK_FALSE(choose(question).chosen);
}

TEST_CASE("a guard beyond the cap is tried: a change that gains needs fewer pairs") {
  OpenQuestion question = asked(Question::guards, "serve.ttft_p99", 0);
  question.margin = 1;
  while (choose(question).chosen->pairs < 40) question.margin *= 0.98;
  const Choice beyond = choose(question);  // the first margin that takes the cap
  REQUIRE(beyond.chosen);
  question.margin *= 0.7;
  const Choice twice = choose(question);
  REQUIRE(twice.chosen);
  CHECK(twice.chosen->pairs == 40);
}

TEST_CASE("a change that nothing covers is named") {
  OpenQuestion question = asked(Question::correct, "", 0);
  question.knobs = {"moe.tile"};
  question.paths = {"docs/a.md"};
  const Choice choice = choose(question);
  CHECK_FALSE(choice.chosen);
  CHECK(choice.reason == "no probe that answers \"correct\" covers docs/a.md, knob moe.tile");
  question.change_is_empty = true;
  CHECK(choose(question).chosen);
}

TEST_CASE("a metric or a condition that nobody offers is named") {
  CHECK(
      choose(asked(Question::own_metric, "moe.time", 0.3)).reason.find("does not emit moe.time") !=
      std::string::npos);
  OpenQuestion question = asked(Question::own_metric, "kda.gates", 0.3);
  question.key.conditions = {{"batch", "512"}};
  CHECK(choose(question).reason.find("is not run in the condition batch=512") != std::string::npos);
  CHECK(choose_experiment(question, Manifest(), learned(), Policy(), 100).reason ==
        "the manifest has no probes");
}

TEST_CASE("a boast does not look cheap") {
  Learned humbled = learned();
  OpenQuestion question = asked(Question::own_metric, "kda.time", 0.1);
  const double trusted =
      choose_experiment(question, manifest(), humbled, Policy(), 1e6).chosen->pairs;
  for (int i = 0; i < 5; ++i) record_size(humbled.track, question.lineage, 0.1, 0.04);
  CHECK(choose_experiment(question, manifest(), humbled, Policy(), 1e6).chosen->pairs > trusted);
}

TEST_CASE("an own metric that has to gain more is refuted in fewer pairs") {
  OpenQuestion question = asked(Question::own_metric, "kda.time", 0.3);
  const double usual = choose(question).chosen->pairs;
  question.min_gain = 0.2;
  CHECK(choose(question).chosen->pairs < usual);
}

TEST_CASE(
    "a prediction that is nearer to nothing than to the minimum gain is told from the latter") {
  const EvidenceRule rule;  // minimum gain 2%
  CHECK(pairs_to_settle(0.1, 0.02, rule, 0.05) == pairs_to_separate(0.1, 0.02, 0.05));
  CHECK(pairs_to_settle(0, 0.02, rule, 0.05) == pairs_to_separate(std::log1p(0.02), 0.02, 0.05));
  CHECK(pairs_to_settle(0.1, 0, rule, 0.05) == 1);
}

TEST_CASE("cost: learned times before priors, builds only where needed, priced by resources") {
  const Manifest all = manifest();
  const Policy policy;
  const Probe& bench = all.probes.at("kda.bench");
  CHECK(expected_cost_s(bench, 10, Builds::none, learned(), policy) == Approx(10));
  CHECK(expected_cost_s(bench, 10, Builds::candidate, learned(), policy) == Approx(20));
  CHECK(expected_cost_s(bench, 10, Builds::both, learned(), policy) == Approx(90));
  CHECK(expected_cost_s(bench, 10, Builds::candidate, {}, policy) == Approx(50));
  CHECK(expected_cost_s(all.probes.at("serve"), 1, Builds::none, learned(), policy) == Approx(80));
  Probe on_gpu = bench;
  on_gpu.resources.gpus = 1;
  CHECK(expected_cost_s(on_gpu, 10, Builds::none, learned(), policy) == Approx(110));
  Probe brief = all.probes.at("serve");
  brief.name = "brief";
  brief.timeout_s = 4;
  CHECK(expected_cost_s(brief, 1, Builds::none, {}, policy) == Approx(8));
}

TEST_CASE("a prior counts as two observations, so one odd run does not rule") {
  Costs costs;
  CHECK_FALSE(costs.known());
  CHECK(costs.typical_s(10) == 10);
  costs.add(500);
  CHECK(costs.typical_s(10) == 10);
  costs.add(2);
  CHECK(costs.typical_s(10) == 10);
  for (int i = 0; i < 3; ++i) costs.add(2);
  CHECK(costs.typical_s(10) == 2);
  for (int i = 0; i < 100; ++i) costs.add(3);
  CHECK(costs.latest_s.size() == Costs::kRemembered);
  CHECK(costs.typical_s(10) == 3);
}

TEST_CASE("a folder that was built from nothing is not cheaper than a warm one") {
  Learned known;
  CHECK(expected_build_s(false, known) == 30);
  CHECK(expected_build_s(true, known) == 30);
  known.build_cold = seen(100);
  CHECK(expected_build_s(false, known) == 100);  // nothing warm was seen yet
  known.build_warm = seen(8);
  CHECK(expected_build_s(false, known) == 8);
  CHECK(expected_build_s(true, known) == 100);
}

}  // namespace
}  // namespace policies

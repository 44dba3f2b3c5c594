#include "orchestrator/questions.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace orchestrator {
namespace {

using hypotheses::Answer;
using hypotheses::Hypothesis;
using hypotheses::Manifest;
using hypotheses::MetricKey;
using hypotheses::Question;
using hypotheses::Verdict;

constexpr const char* kManifest = R"(version: 1
name: toy
base: main
goal: {metric: serve.tokens, conditions: {users: 4}}
guards: {serve.ttft: 10%, mem.bytes: 2%}
build: ["make {build}"]
knobs:
  toy.tile: {file: knobs.yaml, key: tile, when: build, choices: [16, 32]}
  other.size: {file: knobs.yaml, key: size, when: build, choices: [1, 2]}
probes:
  toy.check: {answers: correctness, layer: kernel, covers: ["toy/**", "knob:toy.*"], run: "check", format: nightshift}
  toy.bench:
    answers: speed
    layer: kernel
    covers: ["toy/**", "knob:toy.*"]
    run: "bench {batch}"
    conditions: {batch: [1, 8]}
    format: nightshift
    metrics: {toy.time: {better: lower, unit: ns}, toy.rate: {better: higher, unit: "1/s"}}
  serve:
    answers: serving
    layer: engine
    covers: ["toy/**", "knob:toy.*", "serve/**"]
    run: "serve {users}"
    conditions: {users: [1, 4]}
    format: nightshift
    metrics: {serve.tokens: {better: higher, unit: "1/s"}, serve.ttft: {better: lower, unit: ms}}
  mem:
    answers: counters
    layer: kernel
    covers: ["mem/**", "knob:other.*"]
    run: "mem"
    format: nightshift
    metrics: {mem.bytes: {better: lower, unit: B, exact: true}}
)";

Manifest manifest() {
  auto parsed = hypotheses::read_manifest(kManifest, "nightshift.yaml");
  if (!parsed) FAIL(parsed.error().text());
  return *parsed;
}

Hypothesis knob_change(const std::string& knob = "toy.tile") {
  Hypothesis hypothesis;
  hypothesis.id = {3};
  hypothesis.change.knobs = {{knob, "16"}};
  hypothesis.prediction = {{"toy.time", {{"batch", "1"}}}, std::log(0.9)};
  hypothesis.paths = {"knobs.yaml"};
  return hypothesis;
}

// "own-metric toy.time{batch=1}", one a question.
std::vector<std::string> asked(const Hypothesis& hypothesis, const Manifest& of = manifest()) {
  std::vector<std::string> list;
  for (const Needed& needed : needed_questions(hypothesis, of, {})) {
    std::string key = to_text(needed.key);
    list.push_back(std::string(to_text(needed.question)) + (key.empty() ? "" : " " + key));
  }
  return list;
}

Answer answer(Question question, Verdict verdict, MetricKey key = {}) {
  Answer answer{question, verdict, "because", {}, {1}};
  answer.evidence.emplace();
  answer.evidence->key = std::move(key);
  return answer;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a knob that everything covers: all questions, in the order of precedence") {
  CHECK(asked(knob_change()) == Lines{"builds", "correct", "own-metric toy.time{batch=1}",
                                      "carries-over serve.tokens{users=4}",
                                      "guards serve.ttft{users=1}", "guards serve.ttft{users=4}",
                                      "guards toy.time{batch=8}"});
}

TEST_CASE("what no probe covers is not asked") {
  Hypothesis other = knob_change("other.size");
  other.prediction.key = {"mem.bytes", {}};
  CHECK(asked(other) == Lines{"builds", "own-metric mem.bytes"});
}

TEST_CASE("a knob is covered by its name, not by the file in which all knobs stand") {
  Manifest of = manifest();
  of.probes.at("mem").covers = {"knobs.yaml"};
  CHECK(asked(knob_change(), of) == asked(knob_change()));
}

TEST_CASE("a patch is covered by its paths") {
  Hypothesis patch = knob_change();
  patch.change = {{}, {{"toy/a.cc", "x", "y"}}, ""};
  patch.paths = {"toy/a.cc"};
  CHECK(asked(patch) == asked(knob_change()));
  patch.paths = {"serve/a.cc"};
  CHECK(asked(patch) == Lines{"builds", "own-metric toy.time{batch=1}",
                              "carries-over serve.tokens{users=4}", "guards serve.ttft{users=1}",
                              "guards serve.ttft{users=4}"});
}

TEST_CASE("a claim about the goal itself need not carry over to it") {
  Hypothesis engine = knob_change();
  engine.prediction.key = {"serve.tokens", {{"users", "4"}}};
  auto questions = asked(engine);
  CHECK(std::count_if(questions.begin(), questions.end(),
                      [](const std::string& q) { return q.rfind("carries-over", 0) == 0; }) == 0);
}

TEST_CASE("a goal metric that is a guard too is asked once in the goal's condition") {
  Manifest of = manifest();
  of.guards.push_back({"serve.tokens", 0.05});
  auto questions = asked(knob_change(), of);
  CHECK(std::count(questions.begin(), questions.end(), "guards serve.tokens{users=4}") == 0);
  CHECK(std::count(questions.begin(), questions.end(), "guards serve.tokens{users=1}") == 1);
}

TEST_CASE("a measurement without a change asks nothing but its metric") {
  Hypothesis measure = knob_change();
  measure.change = {};
  CHECK(asked(measure) == Lines{"builds", "correct", "own-metric toy.time{batch=1}"});
}

TEST_CASE("a target without a build is not asked whether it builds") {
  Manifest of = manifest();
  of.build.clear();
  CHECK(asked(knob_change(), of).front() == "correct");
}

TEST_CASE("margins: the manifest's for its guards, the policy's for the other conditions") {
  policies::Policy policy;
  policy.evidence.guard_margin = 0.07;
  for (const Needed& needed : needed_questions(knob_change(), manifest(), policy)) {
    if (needed.key.metric == "serve.ttft") CHECK(needed.margin == Approx(0.10));
    if (needed.question == Question::guards && needed.key.metric == "toy.time") {
      CHECK(needed.margin == Approx(0.07));
    }
  }
}

TEST_CASE("predictions are oriented: better is positive whichever way the metric counts") {
  CHECK(oriented(manifest(), {{"toy.time", {}}, std::log(0.9)}) > 0);
  CHECK(oriented(manifest(), {{"toy.rate", {}}, std::log(0.9)}) < 0);
  CHECK(oriented(manifest(), {{"toy.rate", {}}, std::log(1.2)}) > 0);
}

TEST_CASE("a key is completed with the first of each condition that it lacks") {
  CHECK(to_text(complete_key(manifest(), {"toy.time", {}})) == "toy.time{batch=1}");
  CHECK(to_text(complete_key(manifest(), {"toy.time", {{"batch", "8"}}})) == "toy.time{batch=8}");
  CHECK(to_text(complete_key(manifest(), {"nobody.knows", {}})) == "nobody.knows");
}

TEST_CASE("an answer to a guard is the answer to that guard alone") {
  Needed ttft{Question::guards, {"serve.ttft", {{"users", "1"}}}, 0.1, 0};
  std::vector<Answer> answers = {
      answer(Question::guards, Verdict::refuted, {"serve.ttft", {{"users", "4"}}})};
  CHECK(answer_to(ttft, answers) == nullptr);
  answers.push_back(answer(Question::guards, Verdict::supported, ttft.key));
  CHECK(answer_to(ttft, answers) == &answers[1]);
  Needed own{Question::own_metric, {"toy.time", {}}, 0, 0};
  CHECK(answer_to(own, answers) == nullptr);
}

TEST_CASE(
    "a verdict is the first answer that is not supported, else supported when all are there") {
  auto needed = needed_questions(knob_change(), manifest(), {});
  std::vector<Answer> answers;
  for (const Needed& question : needed) {
    CHECK_FALSE(settle(needed, answers));
    answers.push_back(answer(question.question, Verdict::supported, question.key));
  }
  auto settled = settle(needed, answers);
  REQUIRE(settled);
  CHECK(settled->verdict == Verdict::supported);
  REQUIRE(settled->evidence);
  CHECK(settled->evidence->key == knob_change().prediction.key);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    for (Verdict verdict :
         {Verdict::refuted, Verdict::no_difference, Verdict::inconclusive, Verdict::invalid}) {
      CAPTURE(to_text(needed[i].question), to_text(verdict));
      auto with_one = answers;
      with_one[i].verdict = verdict;
      auto other = settle(needed, with_one);
      REQUIRE(other);
      CHECK(other->verdict == verdict);
      if (needed[i].question == Question::guards) {
        CHECK(other->reason == "guard " + to_text(needed[i].key) + ": because");
      }
      if (needed[i].question == Question::carries_over) {
        CHECK(other->reason.find("does not carry over to serve.tokens{users=4}") == 0);
      }
    }
  }
}

TEST_CASE("an own metric needs what the goal needs, through the share that the change touches") {
  const Manifest target = manifest();
  const Hypothesis hypothesis = knob_change();
  const policies::Policy policy;  // at least 2%
  auto shown = [&](double share) {
    policies::MetricShares shares;
    shares.probe = "trace";
    shares.key = {"serve.tokens", {{"users", "4"}}};
    shares.stacks = {{{"toy"}, share}};
    shares.spans = {{"toy", {"toy/**", "knob:toy.*"}}};
    return needed_own_gain(hypothesis, target, {shares}, policy);
  };
  CHECK_FALSE(needed_own_gain(hypothesis, target, {}, policy).min_gain);  // nobody knows
  CHECK_FALSE(shown(0.9).min_gain);  // times the doubt all of it
  // 10% may be 15%: 1 / 1.02 = 1 - 0.15 + 0.15 / (1 + gain).
  OwnGain gain = shown(0.10);
  CHECK(gain.within_reach);
  REQUIRE(gain.min_gain);
  CHECK(1 - 0.15 + 0.15 / (1 + *gain.min_gain) == Approx(1 / 1.02));
  // 1% cannot gain 2%.
  OwnGain none = shown(0.01);
  CHECK_FALSE(none.within_reach);
  CHECK(none.reason ==
        "serve.tokens{users=4} cannot gain the 2% that is needed: the change touches 1% of its "
        "time, and 1.5 times that would not do if it took no time at all");
}

TEST_CASE("what is unknown about a merge is said: engine, other conditions, other machines") {
  std::string engine = unknown_text(knob_change(), manifest());
  CHECK(engine.find("whole engine") == std::string::npos);
  CHECK(engine.find("batch other than 1, 8") != std::string::npos);
  CHECK(engine.find("Other machines") != std::string::npos);
  Manifest of = manifest();
  of.probes.erase("serve");
  CHECK(unknown_text(knob_change(), of).find("whole engine gains is unknown") != std::string::npos);
}

}  // namespace orchestrator

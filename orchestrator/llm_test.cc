// What the model says, good and bad, over a real HTTP endpoint.
#include "orchestrator/llm.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "orchestrator/test_endpoint.h"
#include "orchestrator/test_view.h"

namespace orchestrator {
namespace {

// The bad answer is refused with this reason, which goes back to the model, and the good one taken.
void expect_second_chance(TestEndpoint::Reply bad, const std::string& reason,
                          LlmQuestion (*change)(LlmQuestion) = nullptr) {
  CAPTURE(reason);
  TestEndpoint endpoint({std::move(bad), says(kGoodKnob)});
  LlmQuestion question = toy_question(endpoint.url());
  if (change != nullptr) question = change(std::move(question));
  auto answered = ask(endpoint, question);
  CHECK(endpoint.requests() == 2);
  CHECK(answered.step);
  REQUIRE(answered.transcript.size() == 2);
  CHECK(answered.transcript[0].outcome == "refused");
  CHECK(holds(answered.transcript[0].text, reason));
  CHECK(answered.transcript[1].outcome == "answered");
  auto second = messages(endpoint, 1);
  REQUIRE(second.size() >= 3);
  CHECK(holds(second.back(), "user: "));
  CHECK(holds(second.back(), reason));
}

std::string patch(const std::string& path, const std::string& search) {
  nlohmann::json step = {
      {"step", "patch"},
      {"claim", "less work"},
      {"edits", {{{"path", path}, {"search", search}, {"replace", "return 2;"}}}},
      {"predicts", "toy.time{batch=1} -10%"}};
  return step.dump();
}

LlmQuestion with_past_claim(LlmQuestion question) {
  question.view.history = {
      toy_past(question.view, 5, {{"toy.tile", "16"}}, hypotheses::Verdict::refuted, -0.3)};
  return question;
}

}  // namespace

TEST_CASE("a good knob step is taken at the first answer, and its tokens are those reported") {
  TestEndpoint endpoint({says(kGoodKnob, 123)});
  auto answered = ask(endpoint, toy_question(endpoint.url()));
  CHECK(endpoint.requests() == 1);
  CHECK(answered.tokens == 123);
  REQUIRE(answered.step);
  const auto& proposal = std::get<Proposal>(*answered.step);
  CHECK(proposal.claim == "wider tiles");
  CHECK(to_text(proposal.change) == "toy.tile = 64");
  CHECK(to_text(proposal.prediction) == "toy.time{batch=1} -10%");
}

TEST_CASE("the request names the model and the limits, the prompt shows what may be known") {
  TestEndpoint endpoint({says(kGoodKnob)});
  LlmQuestion question = with_past_claim(toy_question(endpoint.url()));
  question.view.refusals = {"toy.tile = 7: no such choice"};
  ask(endpoint, question);
  auto request = nlohmann::json::parse(endpoint.body(0));
  CHECK(request.at("model") == "toy-model");
  CHECK(request.at("max_tokens") == 1000);
  auto sent = messages(endpoint, 0);
  REQUIRE(sent.size() == 2);
  CHECK(holds(sent[0], "system: "));
  for (const char* part : {"toy.time{batch=1}", "toy.tile = 32 (choices: 16, 32, 64)", "H-5",
                           "refuted; measured", "int toy() { return 1; }", "toy.tile = 7"}) {
    CAPTURE(part);
    CHECK(holds(sent[1], part));
  }
  CHECK_FALSE(holds(sent[1], "bench/toy.cc"));  // protected: it cannot be changed anyway
  CHECK_FALSE(holds(endpoint.body(0), kFakeKey));
}

TEST_CASE("a good patch is tried on the real file and taken") {
  TestEndpoint endpoint({says(patch("src/toy.cc", "return 1;"))});
  auto answered = ask(endpoint, toy_question(endpoint.url()));
  REQUIRE(answered.step);
  const auto& edits = std::get<Proposal>(*answered.step).change.edits;
  REQUIRE(edits.size() == 1);
  CHECK(edits[0] == hypotheses::Edit{"src/toy.cc", "return 1;", "return 2;"});
}

TEST_CASE("a new file, a measurement and a stop are steps too") {
  for (const std::string& text :
       {patch("src/new.cc", ""),
        std::string(
            R"({"step": "measure", "claim": "as it is", "predicts": "toy.time{batch=8} -1%"})"),
        std::string(R"({"step": "stop", "reason": "nothing left"})")}) {
    CAPTURE(text);
    TestEndpoint endpoint({says(text)});
    CHECK(ask(endpoint, toy_question(endpoint.url())).step);
  }
}

TEST_CASE("prose and fences around the object do no harm") {
  for (const std::string& text :
       {std::string("Let me think.\n```json\n") + kGoodKnob + "\n```\nDone.",
        std::string("\n\n  ") + kGoodKnob + "  "}) {
    TestEndpoint endpoint({says(text)});
    CHECK(ask(endpoint, toy_question(endpoint.url())).step);
  }
}

TEST_CASE("answers of the wrong form are refused, told why, and get a second chance") {
  const std::string predicts = R"("predicts": "toy.time{batch=1} -10%")";
  expect_second_chance(says("I cannot do that."), "no complete JSON object");
  expect_second_chance(says(R"({"step": "knobs", "claim")"), "no complete JSON object");
  expect_second_chance(says(R"({"step": knobs})"), "not valid JSON");
  expect_second_chance(says(R"({"claim": "x"})"), "'step' is missing");
  expect_second_chance(says(R"({"step": "dance", "claim": "x", )" + predicts + "}"), "dance");
  expect_second_chance(says(R"({"step": "knobs", "claim": 7, )" + predicts + "}"),
                       "'claim' must be text");
  expect_second_chance(
      says(R"({"step": "knobs", "claim": "x", "knobs": {"toy.tile": [64]}, )" + predicts + "}"),
      "must be a scalar");
  expect_second_chance(
      says(R"({"step": "knobs", "claim": "x", "knobs": {"toy.tile": 64}, "predicts": "faster"})"),
      "faster");
  expect_second_chance(
      says(R"({"step": "knobs", "claim": "x", "knobs": {"toy.tile": 64}, "shell": "rm", )" +
           predicts + "}"),
      "unknown key 'shell'");
}

TEST_CASE("steps against the policy are refused, told why, and get a second chance") {
  expect_second_chance(says(patch("bench/toy.cc", "timer")), "bench/toy.cc is protected");
  expect_second_chance(says(patch("../escape", "")), "no path inside the repository");
  expect_second_chance(says(patch("src/toy.cc", "return 7;")), "the search text was not found");
  expect_second_chance(says(patch("src/none.cc", "return 1;")), "there is no src/none.cc");
  expect_second_chance(says(R"({"step": "knobs", "claim": "x", "knobs": {"toy.tail": 64},)"
                            R"( "predicts": "toy.time{batch=1} -10%"})"),
                       "no knob 'toy.tail'");
  expect_second_chance(says(R"({"step": "knobs", "claim": "x", "knobs": {"toy.tile": 16},)"
                            R"( "predicts": "toy.time{batch=1} -10%"})"),
                       "H-5 made the same change", with_past_claim);
}

TEST_CASE("cut off and empty answers are named, told, and get a second chance") {
  expect_second_chance(says(R"({"step": "knobs", "cl)", 1000, "length"), "token limit");
  expect_second_chance(says(kGoodKnob, 1000, "length"), "token limit");
  expect_second_chance(says(" \n"), "the answer is empty");
  expect_second_chance(body(R"({"choices": []})"), "no choices");
  expect_second_chance(body(R"({"choices": [{"message": {"content": null}}]})"),
                       "no message content");
  expect_second_chance(body(R"({"choices": [{"mess)"), "no JSON object");
  expect_second_chance(body(""), "no JSON object");
}

TEST_CASE("a model that never answers well is asked so often and no more") {
  for (int retries : {0, 1, 2}) {
    TestEndpoint endpoint({says("no", 400)});
    LlmQuestion question = toy_question(endpoint.url());
    question.policy.planner.max_retries = retries;
    question.reserved_tokens = 100'000;
    auto answered = ask(endpoint, question);
    CHECK_FALSE(answered.step);
    CHECK(endpoint.requests() == retries + 1);
    CHECK(answered.tokens == 400 * (retries + 1));
    CHECK(holds(answered.failure, "no complete JSON object"));
  }
}

TEST_CASE("a retry that the reserve does not pay for is not made") {
  TestEndpoint endpoint({says("no", 400)});
  LlmQuestion question = toy_question(endpoint.url());  // answers of 1000 tokens
  question.policy.planner.max_retries = 5;
  question.reserved_tokens = 2000;
  auto answered = ask(endpoint, question);
  CHECK(endpoint.requests() == 3);  // after 400 and 800 another thousand fits, after 1200 not
  CHECK(answered.tokens == 1200);
}

TEST_CASE("what the endpoint says of its usage is not trusted to lower the spend or to break us") {
  for (const char* usage :
       {R"("total_tokens": -500000)", R"("total_tokens": "many")", R"("total_tokens": 1e300)",
        R"("total_tokens": null)", R"("total_tokens": 0)", R"("prompt_tokens": 3)"}) {
    for (const char* content : {R"("no")", "null"}) {
      CAPTURE(usage, content);
      TestEndpoint endpoint(
          {body(std::string(R"({"usage": {)") + usage +
                R"(}, "choices": [{"message": {"content": )" + content + "}}]}")});
      LlmQuestion question = toy_question(endpoint.url());
      question.policy.planner.max_retries = 0;
      auto answered = ask(endpoint, question);
      CHECK_FALSE(answered.step);
      CHECK(answered.tokens == 1000);  // the reserve
    }
  }
}

TEST_CASE("an echo of the key is hidden wherever it comes back") {
  const std::string key = kFakeKey;
  std::string step = R"({"step": "knobs", "claim": "use )" + key +
                     R"(", "knobs": {"toy.tile": 64}, "predicts": "toy.time{batch=1} -10%"})";
  TestEndpoint echo({says(step)});
  auto answered = ask(echo, toy_question(echo.url()));
  REQUIRE(answered.step);
  CHECK_FALSE(holds(std::get<Proposal>(*answered.step).claim, key));
  // Also where the text is cut in the middle of it.
  for (std::size_t padding : {32 * 1024 - 30, 32 * 1024 - 20, 32 * 1024 - 14}) {
    TestEndpoint cut({says(std::string(padding, 'x') + key)});
    for (const auto& turn : ask(cut, toy_question(cut.url())).transcript) {
      CHECK_FALSE(holds(turn.text, key.substr(0, 8)));
    }
  }
  for (std::size_t padding : {280, 290, 299}) {
    TestEndpoint error({status(400, std::string(padding, 'x') + key)});
    auto refused = ask(error, toy_question(error.url()));
    CHECK_FALSE(holds(refused.failure, key.substr(0, 8)));
    CHECK_FALSE(holds(refused.transcript.at(0).text, key.substr(0, 8)));
  }
}

TEST_CASE("keys and tokens of others are redacted, ordinary text is not") {
  CHECK(redact("my sk-abcdefgh12345 key", "") == "my [redacted] key");
  CHECK(redact("Bearer abcdefgh12345", "") == "Bearer [redacted]");
  CHECK(redact("ghp_0123456789012345678901", "") == "[redacted]");
  CHECK(redact("a task-force of risk-averse", "") == "a task-force of risk-averse");
  CHECK(redact("say s3cr3t and s3cr3t", "s3cr3t") == "say [redacted] and [redacted]");
  CHECK(redact("abc", "abc") == "abc");  // too short to be a key: it would tear words apart
}

TEST_CASE("without a key none is sent") {
  TestEndpoint endpoint({says(kGoodKnob)});
  auto answered =
      ask_llm(toy_question(endpoint.url()), [](const std::string&) { return std::nullopt; }, {});
  CHECK(answered.step);
  CHECK(endpoint.authorization(0).empty());
}

}  // namespace orchestrator

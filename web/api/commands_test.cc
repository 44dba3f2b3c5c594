#include "web/api/commands.h"

#include <catch2/catch.hpp>

namespace web {

template <class T>
static std::string mistakes_in(const base::Result<T>& result) {
  REQUIRE_FALSE(result);
  CHECK(result.error().code == base::ErrorCode::bad_input);
  return result.error().message;
}

TEST_CASE("a campaign from JSON") {
  const auto command = create_campaign(R"({"name": "nightly", "target": "/srv/x", "base": "main",
      "goal": {"metric": "serve.tokens_per_s", "conditions": {"batch": "8"}}, "seed": "18446744073709551615",
      "schedule": "0 22 * * *", "time_zone": "Europe/Zurich", "policy": "version: 1", "planner": "llm",
      "start_now": true})");
  REQUIRE(command);
  CHECK(command->campaign.goal.conditions.at("batch") == "8");
  CHECK(command->campaign.seed == 18446744073709551615u);
  CHECK(command->campaign.planner == "llm");
  CHECK(command->start_now);

  const auto brief =
      create_campaign(R"({"name": "n", "target": "t", "goal": "kda_decode.time{batch=1}"})");
  REQUIRE(brief);
  CHECK(brief->campaign.goal.metric == "kda_decode.time");
  CHECK(brief->campaign.goal.conditions.at("batch") == "1");
  CHECK(brief->campaign.planner == "builtin");
  CHECK(brief->campaign.time_zone == "UTC");
  CHECK_FALSE(brief->start_now);

  const auto briefest = create_campaign(R"({"name": "n", "target": "t"})");
  REQUIRE(briefest);
  CHECK(briefest->campaign.goal.metric.empty());  // the manifest's
}

TEST_CASE("all mistakes are named, with what was expected") {
  const std::string text = mistakes_in(create_campaign(
      R"({"name": 3, "goal": 7, "seed": -1, "start_now": "yes", "planner": "gpt", "shedule": ""})"));
  for (const char* part :
       {"name: expected text, found number", "target: missing",
        "goal: expected an object, found number", "seed: expected a whole number, 0 or more",
        "start_now: expected true or false, found string", "planner: expected builtin or llm",
        "shedule: unknown key"}) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("a hypothesis from JSON") {
  const auto command = propose(R"({"campaign": "C-1", "claim": "wider", "prediction":
      "kda_decode.time{batch=1} -40%", "change": {"knobs": [{"knob": "v_tile", "value": "128"}],
      "edits": [{"path": "a.h", "search": "x", "replace": ""}]}})");
  REQUIRE(command);
  CHECK(command->campaign.value == 1);
  CHECK(command->change.knobs.size() == 1);
  CHECK(command->change.edits[0].path == "a.h");
  CHECK(command->prediction.log_ratio == Approx(std::log(0.6)));

  const std::string text =
      mistakes_in(propose(R"({"campaign": "H-1", "claim": "", "prediction": "fast",
      "branch": "try/x", "change": {"knobs": [{"knob": "v"}, 3], "edits": {}, "commit": "x"}})"));
  for (const char* part : {"campaign: expected an id such as C-1", "claim: missing",
                           "prediction: expected a metric", "change.knobs[0].value: missing",
                           "change.knobs[1]: expected an object", "change.edits: expected a list",
                           "change.commit: unknown key", "branch: give a change or a"}) {
    INFO(text);
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("an approval names one whole commit or none") {
  CHECK(approve({1}, ""));
  CHECK(approve({1}, R"({"commit": "0123456789012345678901234567890123456789"})"));
  mistakes_in(approve({1}, R"({"commit": "0123456"})"));
  mistakes_in(approve({1}, R"({"commit": "HEAD"})"));
  mistakes_in(approve({1}, R"({"commit": 7})"));
  mistakes_in(reject({1}, "{}"));
}

TEST_CASE("what is no JSON object") {
  for (const char* body : {"x", "[", "{\"a\":}", "nul", "\xff", "{\"a\": NaN}"}) {
    INFO(body);
    CHECK(mistakes_in(start_night({1}, body)) == "the body is no valid JSON");
  }
  CHECK(mistakes_in(start_night({1}, "[]")).find("expected an object") != std::string::npos);
  CHECK(mistakes_in(start_night({1}, R"({"a": 1})")) ==
        "a: unknown key; no keys are expected here");
  // Deep nesting costs memory, not the stack.
  mistakes_in(start_night({1}, std::string(500'000, '[')));
  CHECK(start_night({1}, " \n"));
}

}  // namespace web

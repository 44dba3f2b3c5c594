#include "policies/policy.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

namespace policies {
namespace {

std::string shipped(const std::string& name) {
  std::ifstream file(std::string(POLICIES_SOURCE_DIR) + "/" + name);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string mistakes(const std::string& yaml) {
  return hypotheses::to_text(parse_policy(yaml, "p.yaml").mistakes);
}

TEST_CASE("an empty text, or one of comments, is the default policy") {
  for (const char* text : {"", "\n", "# nothing\n", "{}"}) {
    INFO(text);
    const auto policy = read_policy(text, "p.yaml");
    if (!policy) FAIL(policy.error().text());
    CHECK(policy->evidence.max_pairs == 40);
    CHECK(policy->sandbox == "required");
  }
}

TEST_CASE("default.yaml says what the defaults are") {
  const auto read = read_policy(shipped("default.yaml"), "default.yaml");
  if (!read) FAIL(read.error().text());
  const Policy& a = *read;
  const Policy b;
  CHECK(a.evidence.alpha == Approx(b.evidence.alpha));
  CHECK(a.evidence.min_gain == Approx(b.evidence.min_gain));
  CHECK(a.evidence.no_difference == Approx(b.evidence.no_difference));
  CHECK(a.evidence.naming_effort == b.evidence.naming_effort);
  CHECK(a.evidence.give_up == b.evidence.give_up);
  CHECK(a.evidence.max_noise == Approx(b.evidence.max_noise));
  CHECK(a.evidence.guard_margin == Approx(b.evidence.guard_margin));
  CHECK(a.evidence.min_pairs == b.evidence.min_pairs);
  CHECK(a.evidence.max_pairs == b.evidence.max_pairs);
  CHECK(a.evidence.noise_pairs == b.evidence.noise_pairs);
  CHECK(a.evidence.implausible_ratio == b.evidence.implausible_ratio);
  CHECK(a.budget.wall_s == b.budget.wall_s);
  CHECK(a.budget.machine_s == b.budget.machine_s);
  CHECK(a.budget.experiments == b.budget.experiments);
  CHECK(a.budget.tokens == b.budget.tokens);
  CHECK(a.planner.kind == b.planner.kind);
  CHECK(a.planner.endpoint == b.planner.endpoint);
  CHECK(a.planner.model == b.planner.model);
  CHECK(a.planner.key_env == b.planner.key_env);
  CHECK(a.planner.max_turns == b.planner.max_turns);
  CHECK(a.planner.max_retries == b.planner.max_retries);
  CHECK(a.planner.max_tokens == b.planner.max_tokens);
  CHECK(a.planner.answer_tokens == b.planner.answer_tokens);
  CHECK(a.planner.timeout_s == b.planner.timeout_s);
  CHECK(a.planner.patience == b.planner.patience);
  CHECK(a.planner.patch_bytes == b.planner.patch_bytes);
  CHECK(a.merge.on_kernel_evidence == b.merge.on_kernel_evidence);
  CHECK(a.merge.auto_approve_knobs == b.merge.auto_approve_knobs);
  CHECK(a.merge.max_remeasures == b.merge.max_remeasures);
  CHECK(a.merge.fdr == Approx(b.merge.fdr));
  CHECK(a.retention.artifacts_days == b.retention.artifacts_days);
  CHECK(a.retention.keep_merged == b.retention.keep_merged);
  CHECK(a.retention.max_gib == b.retention.max_gib);
  CHECK(a.sandbox == b.sandbox);
  CHECK(a.protected_paths == b.protected_paths);
  CHECK(a.max_hypotheses == b.max_hypotheses);
  CHECK(a.core_price == b.core_price);
  CHECK(a.gpu_price == b.gpu_price);
}

TEST_CASE("demo.yaml is the first night's") {
  const auto read = read_policy(shipped("demo.yaml"), "demo.yaml");
  if (!read) FAIL(read.error().text());
  CHECK(read->sandbox == "auto");
  CHECK(read->merge.on_kernel_evidence);
  CHECK_FALSE(read->merge.auto_approve_knobs);
  CHECK(read->budget.wall_s == 330);
  CHECK(read->budget.machine_s == 450);
  CHECK(read->evidence.max_pairs == 25);
  CHECK(read->evidence.alpha == 0.05);
}

TEST_CASE("how long files are kept is read, and refused where it makes no sense") {
  const auto read =
      read_policy("retention: {artifacts_days: 7, keep_merged: false, max_gib: 1.5}", "p.yaml");
  if (!read) FAIL(read.error().text());
  CHECK(read->retention.artifacts_days == 7);
  CHECK_FALSE(read->retention.keep_merged);
  CHECK(read->retention.max_gib == 1.5);
  for (const char* wrong : {"{artifacts_days: -1}", "{artifacts_days: 30d}", "{keep_merged: 3}",
                            "{max_gib: -2}", "{days: 3}", "7"}) {
    INFO(wrong);
    CHECK(mistakes(std::string("retention: ") + wrong).find("p.yaml:1:") != std::string::npos);
  }
}

TEST_CASE("mistakes are all reported, each at its place") {
  const std::string text = mistakes(
      "evidence:\n  alpha: 70%\n  max_pairs: 0\n  pairs: 3\nsandbox: maybe\nbudget: {wall: never}\n"
      "planner: {kind: llm}\nprotected: [/etc/passwd]\nnight: 1\n");
  INFO(text);
  for (const char* part : {"p.yaml:2:", "p.yaml:3:", "pairs", "required, auto, none",
                           "p.yaml:6:", "kind llm needs endpoint and model",
                           "relative to the repository's root", "night"}) {
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
  }
  const auto read = read_policy("sandbox: maybe", "p.yaml");
  REQUIRE_FALSE(read);
  CHECK(read.error().code == base::ErrorCode::bad_input);
}

TEST_CASE("values that contradict each other are refused") {
  CHECK_FALSE(mistakes("evidence: {max_noise: 0%}").empty());
  CHECK_FALSE(mistakes("evidence: {naming_effort: -1}").empty());
  CHECK_FALSE(mistakes("evidence: {give_up: -1}").empty());
  CHECK(mistakes("evidence: {min_gain: 1%}").empty());  // the band goes along
  CHECK(mistakes("evidence: {min_gain: 1%, no_difference: 2%}").find("must not exceed min_gain") !=
        std::string::npos);
  CHECK(mistakes("evidence: {min_pairs: 9, max_pairs: 8}").find("must not exceed max_pairs") !=
        std::string::npos);
  CHECK(mistakes("planner: {endpoint: \"ftp://x\"}").find("expected a base URL") !=
        std::string::npos);
  CHECK_FALSE(mistakes("evidence: {alpha: .nan}").empty());
  CHECK_FALSE(mistakes("evidence: {max_pairs: 1.5}").empty());
  CHECK_FALSE(mistakes("- a list").empty());
}

}  // namespace
}  // namespace policies

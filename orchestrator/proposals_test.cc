// Each refusal of a proposal, and edits that apply all or not at all.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "orchestrator/planner.h"
#include "orchestrator/test_view.h"

namespace orchestrator {
namespace {

using hypotheses::Edit;
using hypotheses::Verdict;

Proposal knob_step() {
  Proposal proposal;
  proposal.claim = "larger tiles reuse more of the cache";
  proposal.change.knobs = {{"toy.tile", "64"}};
  proposal.prediction = {{"toy.time", {{"batch", "1"}}}, std::log(0.9)};
  return proposal;
}

Proposal patch(std::vector<Edit> edits) {
  Proposal proposal = knob_step();
  proposal.change = {{}, std::move(edits), ""};
  return proposal;
}

std::string refused(const Proposal& proposal, const PlannerView& view = toy_view(),
                    const policies::Policy& policy = {}) {
  return refusal(proposal, view, policy).value_or("");
}

// True when it is refused and the reason holds all of these.
bool says(const std::string& reason, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    if (reason.find(part) == std::string::npos) {
      UNSCOPED_INFO("'" << reason << "' does not hold '" << part << "'");
      return false;
    }
  }
  return !reason.empty();
}

}  // namespace

TEST_CASE("good proposals are taken: a knob, a patch, a new file, a measurement") {
  CHECK(refused(knob_step()) == "");
  CHECK(refused(patch({{"src/toy.cc", "a", "b"}})) == "");
  CHECK(refused(patch({{"src/new.cc", "", "int x;\n"}})) == "");
  CHECK(refused(patch({{"src/..hidden", "a", "b"}})) == "");
  Proposal measure = knob_step();
  measure.change = {};
  measure.prediction.log_ratio = 0;
  CHECK(refused(measure) == "");
}

TEST_CASE("claims: empty and endless ones are refused") {
  Proposal proposal = knob_step();
  for (const char* claim : {"", " ", "\n\t "}) {
    proposal.claim = claim;
    CHECK(says(refused(proposal), {"claim is empty"}));
  }
  proposal.claim = std::string(501, 'x');
  CHECK(says(refused(proposal), {"501", "500"}));
  proposal.claim = std::string(500, 'x');
  CHECK(refused(proposal) == "");
}

TEST_CASE("knobs: unknown names, other values, doubles and no change are refused, named") {
  Proposal proposal = knob_step();
  proposal.change.knobs = {{"toy.tail", "64"}};
  CHECK(says(refused(proposal), {"toy.tail", "toy.tile", "toy.variant"}));
  proposal.change.knobs = {{"toy.tile", "65"}};
  CHECK(says(refused(proposal), {"toy.tile", "65", "16, 32, 64"}));
  proposal.change.knobs = {{"toy.tile", "64"}, {"toy.tile", "16"}};
  CHECK(says(refused(proposal), {"toy.tile", "twice"}));
  proposal.change.knobs = {{"toy.tile", "32"}};
  CHECK(says(refused(proposal), {"changes nothing"}));
}

TEST_CASE("hostile paths are refused, whoever asks") {
  for (const char* path :
       {"", "/etc/passwd", "..", "../x", "src/../../x", "src/..", "a/../nightshift.yaml", ".git",
        ".git/config", "src/.git/config", ".GIT/hooks/x", "./nightshift.yaml", ".//bench/toy.cc",
        "src//toy.cc", "src/./toy.cc", "src/", "."}) {
    CAPTURE(path);
    CHECK(says(refused(patch({{path, "a", "b"}})), {"no path inside the repository"}));
  }
  CHECK(says(refused(patch({{std::string("src/a\0b", 7), "a", "b"}})), {"no path"}));
}

TEST_CASE("protected paths are refused, also as the second of two edits") {
  for (const char* path : {"nightshift.yaml", "bench/toy.cc", "bench/deep/er.cc"}) {
    CAPTURE(path);
    CHECK(says(refused(patch({{path, "a", "b"}})), {path, "protected"}));
    CHECK(says(refused(patch({{"src/toy.cc", "a", "b"}, {path, "", "b"}})), {path, "protected"}));
  }
}

TEST_CASE("edits: too many bytes, and those that change nothing") {
  policies::Policy policy;
  policy.planner.patch_bytes = 100;
  CHECK(refused(patch({{"src/toy.cc", std::string(50, 'a'), std::string(50, 'b')}}), toy_view(),
                policy) == "");
  CHECK(says(refused(patch({{"src/a.cc", std::string(50, 'a'), "b"},
                            {"src/b.cc", std::string(49, 'a'), "b"}}),
                     toy_view(), policy),
             {"101 bytes", "100"}));
  CHECK(says(refused(patch({{"src/toy.cc", "same", "same"}})), {"src/toy.cc", "changes nothing"}));
}

TEST_CASE("predictions: unknown metrics and conditions, no number, the wrong way") {
  Proposal proposal = knob_step();
  proposal.prediction.key.metric = "toy.tine";
  CHECK(says(refused(proposal), {"toy.tine", "toy.time"}));
  proposal = knob_step();
  proposal.prediction.key.conditions = {{"batch", "7"}};
  CHECK(says(refused(proposal), {"{batch=1}", "{batch=8}", "{batch=7}"}));
  proposal.prediction.key.conditions = {};
  CHECK(says(refused(proposal), {"{batch=1}"}));
  for (double size :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity(), -5.0}) {
    proposal = knob_step();
    proposal.prediction.log_ratio = size;
    CHECK(says(refused(proposal), {"hundredfold"}));
  }
  proposal = knob_step();
  for (double worse : {0.1, 0.0}) {
    proposal.prediction.log_ratio = worse;
    CHECK(says(refused(proposal), {"gets worse"}));
  }
}

TEST_CASE("repeats are refused with the earlier verdict, whatever made the same settings") {
  PlannerView view = toy_view();
  PastClaim past = toy_past(view, 3, {{"toy.tile", "64"}}, Verdict::refuted, -0.2);
  past.reason = "2x slower";
  view.history = {past};
  CHECK(says(refused(knob_step(), view), {"H-3", "refuted", "2x slower"}));
  Proposal also_default = knob_step();
  also_default.change.knobs.push_back({"toy.variant", "0"});  // as it is already
  CHECK(says(refused(also_default, view), {"H-3"}));
  view.history[0].verdict.reset();
  CHECK(says(refused(knob_step(), view), {"H-3", "still open"}));
  // Another claim about it, another base, other settings: news.
  Proposal other_metric = knob_step();
  other_metric.prediction.key.conditions = {{"batch", "8"}};
  CHECK(refused(other_metric, view) == "");
  view.history[0].same_base = false;
  CHECK(refused(knob_step(), view) == "");
  view.history[0].same_base = true;
  Proposal other = knob_step();
  other.change.knobs = {{"toy.tile", "16"}};
  CHECK(refused(other, view) == "");
}

TEST_CASE("the same patch on the same incumbent is a repeat, on another it is not") {
  PlannerView view = toy_view();
  PastClaim past = toy_past(view, 4, {}, Verdict::no_difference, 0);
  past.change.edits = {{"src/toy.cc", "a", "b"}};
  past.knobs_only = false;
  view.history = {past};
  CHECK(says(refused(patch({{"src/toy.cc", "a", "b"}}), view), {"H-4", "no-difference"}));
  CHECK(refused(patch({{"src/toy.cc", "a", "c"}}), view) == "");
  view.incumbent = {9};
  CHECK(refused(patch({{"src/toy.cc", "a", "b"}}), view) == "");
}

TEST_CASE("edits apply in order, each where its text occurs once") {
  const std::string text = "one\ntwo\nthree\n";
  CHECK(apply_edits("f", text, {{"f", "two", "2"}, {"f", "three", "3"}}).value() == "one\n2\n3\n");
  CHECK(apply_edits("f", text, {{"f", "two\n", ""}}).value() == "one\nthree\n");
  CHECK(apply_edits("f", text, {{"f", "two", "four"}, {"f", "four", "5"}}).value() ==
        "one\n5\nthree\n");
  CHECK(apply_edits("f", "", {{"f", "", "new\n"}}).value() == "new\n");
  CHECK(apply_edits("f", text, {}).value() == text);
}

TEST_CASE("one edit that does not match refuses all, and says which and what is nearest") {
  const std::string text = "int first() {\n  return compute(a, b);\n}\n";
  auto result = apply_edits("src/toy.cc", text,
                            {{"src/toy.cc", "first", "second"},
                             {"src/toy.cc", "  return compute(b, a);", "  return 0;"}});
  REQUIRE_FALSE(result);
  CHECK(result.error().code == base::ErrorCode::bad_input);
  CHECK(says(result.error().text(), {"src/toy.cc, edit 2", "not found", "nothing was changed",
                                     "nearest is line 2: return compute(a, b);"}));
}

TEST_CASE("a text that occurs twice, also overlapping, is refused with the count") {
  auto twice = apply_edits("f", "x = 1;\nx = 1;\n", {{"f", "x = 1;", "x = 2;"}});
  REQUIRE_FALSE(twice);
  CHECK(says(twice.error().text(), {"f, edit 1", "occurs 2 times"}));
  auto overlapping = apply_edits("f", "aaa", {{"f", "aa", "b"}});
  REQUIRE_FALSE(overlapping);
  CHECK(says(overlapping.error().text(), {"occurs 2 times"}));
}

TEST_CASE("an empty search text makes a new file and overwrites none") {
  auto result = apply_edits("f", "old\n", {{"f", "", "new\n"}});
  REQUIRE_FALSE(result);
  CHECK(says(result.error().text(), {"empty", "new file"}));
}

}  // namespace orchestrator

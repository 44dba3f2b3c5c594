#include "web/api/views.h"

#include "hypotheses/json.h"
#include "web/api/test_site.h"

namespace web {

// No number in any view is other than finite; the text form would show "null" for those at most.
static void check_finite(const Json& value) {
  if (value.is_number_float()) CHECK(std::isfinite(value.get<double>()));
  if (value.is_structured()) {
    for (const Json& part : value) check_finite(part);
  }
}

static store::Reader reader_of(const TestSite& site) {
  auto reader = store::Reader::open(site.folder.path());
  REQUIRE(reader);
  return std::move(*reader);
}

TEST_CASE("the report sorts a night by verdict and adds up its cost") {
  TestSite site;
  const auto reader = reader_of(site);
  const auto report = report_view(reader, {1});
  REQUIRE(report);
  const Json& totals = (*report)["totals"];
  CHECK(totals["by_verdict"]["supported"] == 1);
  CHECK(totals["by_verdict"]["refuted"] == 1);
  CHECK(totals["by_verdict"]["invalid"] == 1);
  CHECK(totals["experiments"] == 6);
  CHECK(totals["machine_s"].get<double>() ==
        Approx(114 * 0.41));  // runs of N-1, as the store adds them
  CHECK(totals["planner_turns"] == 2);
  CHECK(totals["tokens"] == 1830);
  CHECK((*report)["merges"].size() == 1);
  CHECK((*report)["refused_proposals"].size() == 1);
  CHECK((*report)["notes"].size() == 1);
  CHECK_FALSE((*report)["truncated"]);
  check_finite(*report);

  const std::string text = report_text(*report);
  for (const char* part : {"N-1 of Decode kernels, ended", "supported (1)", "H-1  A v_tile of 128",
                           "not known: Only the kernel was measured",
                           "nightshift approve M-1 --commit", "inconclusive (1)", "note: A/A of"}) {
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
  }
  // A running night has no end yet.
  const auto running = report_view(reader, {2});
  REQUIRE(running);
  CHECK((*running)["totals"]["wall_s"].is_null());
  CHECK((*running)["totals"]["by_verdict"]["undecided"] == 2);
  CHECK_FALSE(report_text(*running).empty());
}

TEST_CASE("pairs are made of measured runs, and say what is missing") {
  hypotheses::Experiment experiment;
  experiment.key = {"t", {{"batch", "1"}}};
  const auto run = [&](int attempt, hypotheses::Side side, double value, bool measured = true) {
    hypotheses::Run r;
    r.attempt = attempt;
    r.side = side;
    r.measured = measured;
    r.observations = {{{"t", {{"batch", "64"}}}, 7, "ns"}, {experiment.key, value, "ns"}};
    return r;
  };
  using hypotheses::Side;
  const auto pairs = pairs_of(
      experiment, {run(1, Side::candidate, 50), run(0, Side::base, 100), run(1, Side::base, 100),
                   run(0, Side::candidate, std::nan("")), run(2, Side::base, 0),
                   run(2, Side::candidate, 4), run(3, Side::base, 5, false)});
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].base == 100);
  CHECK_FALSE(pairs[0].candidate);
  CHECK_FALSE(pairs[0].log_ratio);
  CHECK(*pairs[1].log_ratio == Approx(std::log(0.5)));
  CHECK_FALSE(pairs[2].log_ratio);
}

TEST_CASE("an effect that is not finite becomes null") {
  hypotheses::Hypothesis h;
  h.id = {1};
  h.evidence.emplace();
  h.evidence->effect = std::nan("");
  h.evidence->low = -std::numeric_limits<double>::infinity();
  h.evidence->high = 0.5;
  const Json row = hypothesis_row(h);
  CHECK(row["effect"].is_null());
  CHECK(row["interval"][0].is_null());
  CHECK(row["interval"][1] == 0.5);
  CHECK(hypotheses::dump(row).find("nan") == std::string::npos);
}

TEST_CASE("an explanation tells the whole story") {
  TestSite site;
  const auto reader = reader_of(site);
  const auto story = explain_view(reader, hypotheses::HypothesisId{1});
  REQUIRE(story);
  const std::string text = explain_text(*story);
  for (const char* part : {"H-1", "predicts", "E-3 why", "the cap is 40", "verdict", "supported"}) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  }
  const auto experiment = explain_view(reader, hypotheses::ExperimentId{3});
  REQUIRE(experiment);
  const std::string table = explain_text(*experiment);
  INFO(table);
  CHECK(table.find("chosen") != std::string::npos);
  CHECK(table.find("cannot answer") != std::string::npos);
  CHECK(table.find("share 4%") != std::string::npos);
  CHECK_FALSE(explain_view(reader, hypotheses::ExperimentId{99}));
}

TEST_CASE("a timeline is shown as shares, and said in the API") {
  TestSite site;
  hypotheses::Experiment experiment;
  experiment.id = {90};
  experiment.campaign = {1};
  experiment.night = {2};
  experiment.question = hypotheses::Question::own_metric;
  experiment.probe = "serve.trace";
  experiment.key = {"serve.rate", {{"batch", "8"}}};
  hypotheses::Run run;
  run.id = {9000};
  run.experiment = {90};
  run.side = hypotheses::Side::base;
  run.outcome = hypotheses::RunOutcome::ok;
  run.timeline = {{{{"step"}, 0.25}, {{"step", "kda<*>"}, 0.5}}, 0.05, {"moe"}};
  site.commit({hypotheses::ExperimentStarted{experiment}, hypotheses::RunRecorded{run}});
  const auto answer = site.client().Get("/experiments/E-90");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  for (const char* part :
       {"E-90 timeline by serve.trace on serve.rate{batch=8}", "timeline of the base",
        "<code>step / kda&lt;*&gt;</code></td><td class=\"number\">50.0%", "never seen",
        "other spans</td><td class=\"number\">20.0%", "idle</td><td class=\"number\">5.0%"}) {
    INFO(part);
    CHECK(answer->body.find(part) != std::string::npos);
  }
  const Json view = site.get("/api/v1/experiments/E-90");
  CHECK(view["runs"][0]["timeline"]["stacks"][1]["spans"][1] == "kda<*>");
  CHECK_FALSE(site.get("/api/v1/experiments/E-3")["runs"][0].contains("timeline"));
}

TEST_CASE("every view holds finite numbers only") {
  TestSite site;
  for (const char* path :
       {"/api/v1/campaigns", "/api/v1/hypotheses", "/api/v1/hypotheses/H-1",
        "/api/v1/experiments/E-3", "/api/v1/experiments/E-7", "/api/v1/merges/M-1"}) {
    check_finite(site.get(path));
  }
}

}  // namespace web

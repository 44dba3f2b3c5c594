#include "hypotheses/types.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace hypotheses {
namespace {

Evidence evidence_of(Better better, std::string unit, double effect, double low, double high) {
  Evidence evidence;
  evidence.better = better;
  evidence.unit = std::move(unit);
  evidence.effect = effect;
  evidence.low = low;
  evidence.high = high;
  return evidence;
}

}  // namespace

TEST_CASE("keys and conditions have one text") {
  CHECK(to_text(Conditions{}) == "");
  CHECK(to_text(MetricKey{"serve.ttft", {}}) == "serve.ttft");
  CHECK(to_text(MetricKey{"k.time", {{"len", "64"}, {"batch", "1"}}}) == "k.time{batch=1,len=64}");
}

TEST_CASE("a prediction is read back as it was written") {
  struct Row {
    const char* text;
    double ratio;
  };
  const Row rows[] = {{"kda_decode.time{batch=1} -40%", 0.6},
                      {"serve.tokens_per_s +10%", 1.1},
                      {"m -9%", 0.91},
                      {"m{a=1,b=x-y} +150%", 2.5},
                      {"m +0%", 1},
                      {"m -99.5%", 0.005},
                      {"m +3.25%", 1.0325}};
  for (const Row& row : rows) {
    INFO(row.text);
    const auto prediction = parse_prediction(row.text);
    REQUIRE(prediction);
    CHECK(prediction->log_ratio == Approx(std::log(row.ratio)));
    CHECK(to_text(*prediction) == row.text);
  }
  CHECK(parse_prediction("  m   -9%\n")->key.metric == "m");
  CHECK(parse_prediction("k.time{batch=8} -9%")->key.conditions.at("batch") == "8");
}

TEST_CASE("anything else is no prediction") {
  for (const char* text : {"",
                           "m",
                           "-9%",
                           "m -9",
                           "m 9%",
                           "m x1.5",
                           "m -100%",
                           "m -120%",
                           "m +-9%",
                           "m +nan%",
                           "m +inf%",
                           "m -%",
                           "m + 9%",
                           "a b -9%",
                           "m{ -9%",
                           "m{} -9%",
                           "m{a} -9%",
                           "m{a=} -9%",
                           "m{=1} -9%",
                           "m{a=1,a=2} -9%",
                           "m{a=1,} -9%",
                           "m{a=b=c} -9%",
                           "m{a=1}x -9%",
                           "{a=1} -9%",
                           "m -9%%",
                           "m -1e999%"}) {
    INFO(text);
    CHECK_FALSE(parse_prediction(text));
  }
}

TEST_CASE("a change is told in a line") {
  Change change;
  CHECK(to_text(change) == "no change");
  change.knobs = {{"kda_decode.v_tile", "128"}, {"kda_decode.ring", "8"}};
  CHECK(to_text(change) == "kda_decode.v_tile = 128, kda_decode.ring = 8");
  change = {};
  change.edits = {{"a/x.h", "1", "2"}, {"a/x.h", "3", "4"}, {"y.cc", "5", "6"}};
  CHECK(to_text(change) == "edits a/x.h, y.cc");
  change = {};
  change.branch = "try/wider-tiles";
  CHECK(to_text(change) == "branch try/wider-tiles");
}

TEST_CASE("a large effect is a factor, a small one a percentage in the metric's own sense") {
  struct Row {
    Better better;
    const char* unit;
    double effect, low, high;  // oriented ratios
    const char* text;
  };
  const Row rows[] = {
      {Better::lower, "ns", 1.71, 1.65, 1.77, "1.71x faster (1.65x to 1.77x)"},
      {Better::lower, "ms", 1 / 1.2, 1 / 1.25, 1 / 1.15, "1.20x slower (1.15x to 1.25x)"},
      {Better::higher, "tokens/s", 1.2, 1.1, 1.3, "1.20x higher (1.10x to 1.30x)"},
      {Better::higher, "tokens/s", 1 / 1.2, 1 / 1.3, 1 / 1.1, "1.20x lower (1.10x to 1.30x)"},
      {Better::lower, "B", 2, 2, 2, "2.00x lower (2.00x to 2.00x)"},
      {Better::lower, "B", 0.5, 0.5, 0.5, "2.00x higher (2.00x to 2.00x)"},
      {Better::lower, "ns", 1.1, 0.95, 1.4, "1.10x faster (0.95x to 1.40x)"},
      {Better::lower, "ns", 1 / 0.969, 1 / 0.978, 1 / 0.96, "-3.1% (-4.0% to -2.2%)"},
      {Better::lower, "ns", 1 / 1.003, 1 / 1.016, 1 / 0.99, "+0.3% (-1.0% to +1.6%)"},
      {Better::higher, "tokens/s", 1.05, 1.01, 1.09, "+5.0% (+1.0% to +9.0%)"},
      {Better::lower, "ns", 1, 1, 1, "+0.0% (+0.0% to +0.0%)"},
      {Better::lower, "ns", 25.04, 12, 130, "25.0x faster (12.0x to 130x)"},
  };
  for (const Row& row : rows) {
    CHECK(effect_text(evidence_of(row.better, row.unit, std::log(row.effect), std::log(row.low),
                                  std::log(row.high))) == row.text);
  }
}

TEST_CASE("a span's inclusive share counts each stack that it is in, once") {
  const Timeline timeline{{{{"step"}, 0.125}, {{"step", "kda"}, 0.5}, {{"kda"}, 0.25}}, 0.125, {}};
  CHECK(inclusive_share(timeline, "step") == 0.625);
  CHECK(inclusive_share(timeline, "kda") == 0.75);
  CHECK(inclusive_share(timeline, "idle") == 0);
}

TEST_CASE("an effect that is not finite is never shown as a number") {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(effect_text(evidence_of(Better::lower, "ns", nan, 0, 0)) == "not measured");
  CHECK(effect_text(evidence_of(Better::lower, "ns", inf, 0, 0)) == "not measured");
  CHECK(effect_text(evidence_of(Better::lower, "ns", 0.01, -inf, inf)) ==
        "-1.0% (interval not yet known)");
  CHECK(effect_text(evidence_of(Better::lower, "ns", 0.5, nan, 1)) ==
        "1.65x faster (interval not yet known)");
  CHECK(effect_text(evidence_of(Better::higher, "1", 800, -800, 800)) ==
        "over 1000000x higher (0.00x to over 1000000x)");
}

}  // namespace hypotheses

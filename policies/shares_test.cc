#include "policies/shares.h"

#include <catch2/catch.hpp>

namespace policies {
namespace {

using hypotheses::Layer;
using hypotheses::MetricKey;

// step holds kda and moe; moe calls kda once more; kda also runs alone.
MetricShares served(hypotheses::Conditions conditions = {{"batch", "8"}}) {
  return {"serve.trace",
          {"serve.rate", std::move(conditions)},
          {{{"step"}, 0.1},
           {{"step", "kda"}, 0.3},
           {{"step", "moe"}, 0.2},
           {{"step", "moe", "kda"}, 0.05},
           {{"kda"}, 0.15}},
          {{"kda", {"kernels/kda/**", "knob:kda.*"}},
           {"moe", {"kernels/moe/**"}},
           {"rope", {"kernels/rope/**"}},
           {"step", {"src/step.cc"}}}};
}

const MetricKey kRate{"serve.rate", {{"batch", "8"}, {"mode", "fast"}}};

}  // namespace

TEST_CASE("the share of a change is the time in which a span that it touches is open") {
  struct Row {
    const char* what;
    Touched touched;
    double share;
  };
  const Row rows[] = {
      {"wherever it is called", {{"kernels/kda/a.h"}, {}}, 0.5},
      {"by knob", {{"knobs.yaml"}, {"kda.tile"}}, 0.5},
      {"with what it calls", {{"kernels/moe/a.h"}, {}}, 0.25},
      {"two spans, one in the other: no instant twice",
       {{"kernels/moe/a.h", "kernels/kda/a.h"}, {}},
       0.7},
      {"the outermost swallows the rest", {{"src/step.cc", "kernels/moe/a.h"}, {}}, 0.65},
      {"what never appears takes no time", {{"kernels/rope/a.h"}, {}}, 0},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const ChangeShare found = share_of_change({served()}, kRate, Layer::engine, row.touched);
    CHECK(found.known);
    CHECK(found.share == Approx(row.share));
  }
  CHECK(share_of_change({served()}, kRate, Layer::engine, {{"kernels/kda/a.h"}, {}}).reason ==
        "kda takes 50% of serve.rate{batch=8,mode=fast}, by serve.trace");
}

TEST_CASE("what nobody knows is taken as 1, and said") {
  const Touched kda{{"kernels/kda/a.h"}, {}};
  const auto unknown = [](const ChangeShare& found, const std::string& why) {
    CHECK_FALSE(found.known);
    CHECK(found.share == 1);
    CHECK_THAT(found.reason, Catch::Contains("unknown, taken as 1") && Catch::Contains(why));
  };
  unknown(share_of_change({}, kRate, Layer::engine, kda), "no timeline of the base shows it");
  unknown(share_of_change({served({{"batch", "1"}})}, kRate, Layer::engine, kda), "no timeline");
  unknown(share_of_change({served({{"len", "1"}})}, kRate, Layer::engine, kda), "no timeline");
  unknown(share_of_change({served()}, {"serve.ttft", kRate.conditions}, Layer::engine, kda),
          "serve.ttft{batch=8,mode=fast}");
  unknown(share_of_change({served()}, kRate, Layer::engine, {{"src/other.cc"}, {"moe.tile"}}),
          "no span of serve.trace stands for what changes");
}

TEST_CASE("a claim about the metric's own layer is about all of its time") {
  const ChangeShare own =
      share_of_change({served()}, kRate, Layer::engine, {{"kernels/kda/a.h"}, {}, Layer::engine});
  CHECK(own.share == 1);
  CHECK(own.known);
  CHECK(own.reason == "the claim is about the engine itself");
}

TEST_CASE("of two timelines that fit, the newer, rounding never makes more than 1") {
  MetricShares newer = served({});
  newer.stacks = {{{"kda"}, 0.6}, {{"step", "kda"}, 0.4 + 1e-9}};
  CHECK(share_of_change({served(), newer}, kRate, Layer::engine, {{"kernels/kda/a.h"}, {}}).share ==
        1);
  CHECK(share_of_change({newer, served()}, kRate, Layer::engine, {{"kernels/kda/a.h"}, {}}).share ==
        Approx(0.5));
}

}  // namespace policies

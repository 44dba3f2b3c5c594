#include "web/api/also_measured.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace web {
namespace {

using hypotheses::Run;
using hypotheses::Side;

Run run(int attempt, Side side, std::vector<hypotheses::Observation> observations) {
  Run made;
  made.attempt = attempt;
  made.side = side;
  made.measured = true;
  made.observations = std::move(observations);
  return made;
}

hypotheses::Observation seen(const std::string& metric, double value) {
  return {{metric, {}}, value, "ms"};
}

}  // namespace

TEST_CASE("what else the runs reported is compared by pair, the greatest change first") {
  hypotheses::Experiment experiment;
  experiment.key = {"judged", {}};
  std::vector<Run> runs;
  for (int pair = 0; pair < 3; ++pair) {
    const double luck = pair == 1 ? 10 : 1;  // of both sides: no change
    runs.push_back(
        run(pair, Side::candidate,
            {seen("judged", 1), seen("slow", 4 * luck), seen("fast", 1.1), seen("none", 0)}));
    runs.push_back(
        run(pair, Side::base,
            {seen("judged", 2), seen("slow", 2 * luck), seen("fast", 1), seen("none", 0)}));
  }
  runs.push_back(run(3, Side::base, {seen("slow", 7), seen("lonely", 7)}));
  runs.back().observations.push_back(seen("fast", std::nan("")));
  Run build = run(4, Side::base, {seen("slow", 1)});
  build.measured = false;
  runs.push_back(build);

  const auto rows = also_measured(experiment, runs);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].key.metric == "slow");
  CHECK(rows[0].pairs == 3);
  CHECK(rows[0].base == 2);
  CHECK(rows[0].candidate == 4);
  CHECK(*rows[0].log_ratio == Approx(std::log(2)));
  CHECK(to_text(rows[0]) == "slow  2 ms to 4 ms (+100.0%, 3 pairs)");
  CHECK(rows[1].key.metric == "fast");
  CHECK(rows[2].key.metric == "none");
  CHECK_FALSE(rows[2].log_ratio);
}

}  // namespace web

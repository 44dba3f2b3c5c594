#include "policies/robust.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace policies {
namespace {

TEST_CASE("medians and Hodges-Lehmann estimates") {
  CHECK(median({}) == 0);
  CHECK(median({3}) == 3);
  CHECK(median({1, 4}) == 2.5);
  CHECK(median({9, 1, 4}) == 4);
  CHECK(hodges_lehmann({}) == 0);
  CHECK(hodges_lehmann({1, 2, 100}) == Approx(26.25));
  CHECK(hodges_lehmann({1, 2, 3, 4, 1e300}) < 1e10);
  CHECK(hodges_lehmann(std::vector<double>(1000, 0.5)) == 0.5);
}

TEST_CASE("the robust spread is the s.d. of normal values and deaf to outliers") {
  CHECK(robust_spread({}) == 0);
  CHECK(robust_spread({7}) == 0);
  CHECK(robust_spread({-1, 0, 1}) == Approx(1.4826));
  CHECK(robust_spread({-1, 0, 1, 0.5, -0.5, 1e9}) < 2);
}

TEST_CASE("ranks start at 1 and ties share theirs") {
  CHECK(ranks_of({}).of.empty());
  CHECK(ranks_of({30, 10, 20}).of == std::vector<double>{3, 1, 2});
  const Ranks tied = ranks_of({5, 1, 5, 5});
  CHECK(tied.of == std::vector<double>{3, 1, 3, 3});
  CHECK(tied.tie_term == 24);
}

TEST_CASE("a run's summary leaves out its warm-up") {
  struct Row {
    const char* what;
    std::vector<double> iterations;
    double value;
    int warm_up, counted;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Row rows[] = {
      {"nothing", {}, 0, 0, 0},
      {"one", {5}, 5, 0, 1},
      {"too few to know", {9, 5, 5}, 5, 0, 3},
      {"two cold ones", {20, 12, 10.1, 9.9, 10, 10.2, 9.8, 10}, 10, 2, 6},
      {"none cold", {10, 10.1, 9.9, 10.2, 9.8, 10}, 10, 0, 6},
      {"an outlier later is no warm-up", {10, 10.1, 9.9, 30, 10, 10.1, 9.9, 10}, 10, 0, 8},
      {"faster at first (turbo) is dropped too", {8, 10, 10, 10.1, 9.9, 10}, 10, 1, 5},
      {"at most half", {90, 80, 70, 60, 10, 10, 10, 10}, 10, 4, 4},
      {"a coarse clock: half a percent is near", {100.4, 100, 100, 100, 100, 100}, 100, 0, 6},
      {"what is not finite counts nowhere", {nan, 10, 10.1, INFINITY, 9.9, 10}, 10, 0, 4},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    const RunSummary summary = summarise_run(row.iterations);
    CHECK(summary.value == Approx(row.value).epsilon(0.006));
    CHECK(summary.warm_up == row.warm_up);
    CHECK(summary.counted == row.counted);
  }
  CHECK(summarise_run({10, 12, 11, 9, 10}).spread == Approx(1.4826));
}

}  // namespace
}  // namespace policies

#include "policies/budget.h"

#include <catch2/catch.hpp>

namespace policies {
namespace {

constexpr base::Instant kStart{1'000'000};

TEST_CASE("work in flight counts against every limit") {
  const hypotheses::Budget budget{3600, 100, 10, 0};
  CHECK(remaining_machine_s(budget, {}) == 100);
  CHECK(remaining_machine_s(budget, {60, 30, 0, 0}) == 10);
  CHECK_FALSE(over_budget(budget, {60, 30, 9, 0}, 10, kStart, kStart));
  CHECK(*over_budget(budget, {60, 30, 9, 0}, 11, kStart, kStart) ==
        "it needs about 11 machine-seconds; of 100, 60 are spent and 30 in flight");
  CHECK(*over_budget(budget, {0, 0, 10, 0}, 1, kStart, kStart) ==
        "10 of 10 experiments were started");
  CHECK(over_budget(budget, {100, 0, 1, 0}, 0, kStart, kStart));
}

TEST_CASE("nothing starts that would end after the deadline") {
  const hypotheses::Budget budget{100, 0, 0, 0};
  CHECK_FALSE(over_budget(budget, {}, 40, kStart, kStart.plus_s(60)));
  CHECK(*over_budget(budget, {}, 41, kStart, kStart.plus_s(60)) ==
        "it needs about 41 s; 40 s of the night's 100 s are left");
  CHECK(*over_budget(budget, {}, 0, kStart, kStart.plus_s(100)) == "the night's 100 s are over");
}

TEST_CASE("a limit of 0 is no limit") {
  CHECK_FALSE(over_budget({}, {1e6, 1e6, 1000, 0}, 1e5, kStart, kStart.plus_s(1e6)));
  CHECK(remaining_machine_s({}, {1e6, 0, 0, 0}) == kNoLimit);
}

}  // namespace
}  // namespace policies

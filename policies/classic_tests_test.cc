#include "policies/classic_tests.h"

#include <catch2/catch.hpp>

namespace policies {
namespace {

TEST_CASE("fixed-n tests give the p-values of the textbooks") {
  CHECK(paired_t_test({1, 2, 3, 4, 5}) == Approx(0.01324).epsilon(0.001));
  CHECK(welch_t_test({1, 2, 3, 4, 5}, {2, 4, 6, 8, 10}) == Approx(0.10753).epsilon(0.001));
  CHECK(signed_rank_test({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) == Approx(0.00592).epsilon(0.002));
  CHECK(mann_whitney_test({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}) == Approx(0.01219).epsilon(0.001));
}

TEST_CASE("fixed-n tests are two-sided") {
  CHECK(paired_t_test({1, 2, 3}) == Approx(paired_t_test({-1, -2, -3})));
  CHECK(welch_t_test({1, 2}, {5, 7}) == Approx(welch_t_test({5, 7}, {1, 2})));
  CHECK(signed_rank_test({1, 2, -3}) == Approx(signed_rank_test({-1, -2, 3})));
  CHECK(mann_whitney_test({1, 2}, {5, 7}) == Approx(mann_whitney_test({5, 7}, {1, 2})));
}

TEST_CASE("fixed-n tests without anything to test") {
  CHECK(paired_t_test({}) == 1);
  CHECK(paired_t_test({3}) == 1);
  CHECK(paired_t_test({0, 0, 0}) == 1);
  CHECK(paired_t_test({2, 2, 2}) == 0);
  CHECK(welch_t_test({1}, {2, 3}) == 1);
  CHECK(welch_t_test({1, 1}, {1, 1}) == 1);
  CHECK(welch_t_test({1, 1}, {2, 2}) == 0);
  CHECK(signed_rank_test({0, 0, 0, 1}) == 1);
  CHECK(mann_whitney_test({}, {1, 2, 3}) == 1);
  CHECK(mann_whitney_test({4, 4, 4}, {4, 4}) == 1);
}

TEST_CASE("rank tests share the ranks of ties") {
  // Ranks of sizes 1, 1, 2: 1.5, 1.5, 3; the positive ones sum to 4.5 of 6, variance 3.5 - 6/48.
  CHECK(signed_rank_test({1, -1, 2}) == Approx(0.5862).epsilon(0.01));
  CHECK(mann_whitney_test({1, 1, 1, 2}, {1, 2, 2, 2}) > 0.2);
}

}  // namespace
}  // namespace policies

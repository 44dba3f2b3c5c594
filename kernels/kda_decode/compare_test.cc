#include "kernels/kda_decode/compare.h"

#include <catch2/catch.hpp>
#include <limits>

namespace kernels::kda_decode {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
const std::vector<double> kWant = {3, -4, 0, 0};

TEST_CASE("a difference is relative to the rms of what is wanted") {
  const Difference d = compare(std::vector<float>{3, -4, 0.5f, 0}, kWant);
  CHECK(d.rms == Approx(0.1));  // 0.5 / 5
  CHECK(d.max == Approx(0.2));  // 0.5 / 2.5
  CHECK(d.worst == 2);
  CHECK_FALSE(within(d));
  CHECK(within(compare(kWant, kWant)));
}

TEST_CASE("NaN, infinity and a missing value never pass") {
  for (float bad : {kNaN, std::numeric_limits<float>::infinity()}) {
    const Difference d = compare(std::vector<float>{3, -4, 0, bad}, kWant);
    CHECK_FALSE(within(d));
    CHECK(d.worst == 3);
  }
  CHECK_FALSE(within(compare(std::vector<float>{3, -4, 0}, kWant)));
  CHECK_FALSE(within(compare(std::vector<float>{}, std::vector<double>{})));
  CHECK_FALSE(within(compare(std::vector<float>{1}, std::vector<double>{0})));
}

TEST_CASE("one wrong value among many fails, though the rms hides it") {
  std::vector<double> want(1000000, 1.0);
  std::vector<float> got(want.begin(), want.end());
  got[777] = 1.005f;
  const Difference d = compare(got, want);
  CHECK(d.rms < kTolerance);
  CHECK_FALSE(within(d));
  CHECK(d.worst == 777);
}

TEST_CASE("slope is the error gained per step") {
  CHECK(slope(std::vector<double>{1, 3, 5, 7}) == Approx(2));
  CHECK(slope(std::vector<double>{4}) == 0);
}

}  // namespace
}  // namespace kernels::kda_decode

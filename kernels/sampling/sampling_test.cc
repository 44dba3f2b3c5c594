#include "kernels/sampling/sampling.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/kda_decode/inputs.h"

namespace kernels::sampling {
namespace {

// Probabilities .4 .1 .3 .2.
std::vector<float> four() { return {std::log(.4f), std::log(.1f), std::log(.3f), std::log(.2f)}; }

std::int32_t draw(const Options& options, double uniform) {
  std::vector<Candidate> scratch(4);
  return sample(four(), options, uniform, scratch);
}

TEST_CASE("sampling by hand") {
  CHECK(draw({0, 0, 1}, 0.99) == 0);
  CHECK(draw({1, 0, 1}, 0.39) == 0);  // in order of the ids
  CHECK(draw({1, 0, 1}, 0.45) == 1);
  CHECK(draw({1, 0, 1}, 0.55) == 2);
  CHECK(draw({1, 0, 1}, 0.85) == 3);
  CHECK(draw({1, 2, 1}, 0.56) == 0);  // .4 and .3 are left: .571 and .429
  CHECK(draw({1, 2, 1}, 0.58) == 2);
  CHECK(draw({1, 0, 0.6f}, 0.58) == 2);  // .4 does not reach .6, .7 does
  CHECK(draw({1, 0, 0.3f}, 0.99) == 0);
  CHECK(draw({1, 3, 0.75f}, 0.99) == 2);  // of .9, .75 is .675: reached by .7
}

TEST_CASE("a higher temperature flattens, a lower one sharpens") {
  CHECK(draw({100, 0, 1}, 0.26) == 1);
  CHECK(draw({0.05f, 0, 1}, 0.99) == 0);
}

TEST_CASE("the frequencies of a thousand draws are the probabilities") {
  constexpr std::uint64_t kSeed = 31;
  INFO("seed " << kSeed);
  kda_decode::Random random(kSeed);
  int count[4] = {};
  for (int i = 0; i < 1000; ++i) ++count[draw({1, 0, 1}, random.uniform(0, 1))];
  // Four standard deviations of the widest are 62.
  CHECK(std::abs(count[0] - 400) < 62);
  CHECK(std::abs(count[1] - 100) < 62);
  CHECK(std::abs(count[2] - 300) < 62);
  CHECK(std::abs(count[3] - 200) < 62);
}

}  // namespace
}  // namespace kernels::sampling

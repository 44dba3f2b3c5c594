// Every op passes its check for several seeds, and the checks themselves fail where they must.
#include "kernels/lab/engine_ops.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace kernels {
namespace {

TEST_CASE("every op of the engine passes its check") {
  for (const EngineOp& op : engine_ops()) {
    for (std::uint64_t seed : {11, 12, 13}) {
      Check check(op.name, seed);
      op.check(check);
      INFO(op.name << ", seed " << seed << ": " << check.first_mismatch());
      CHECK(check.ok());
    }
  }
}

TEST_CASE("a check fails on what is off, not finite, missing or another bit") {
  const std::vector<double> want = {1, -2, 3};
  const auto fails = [&](const Floats& got) {
    Check check("op", 1);
    check.near("here", got, want);
    return !check.ok();
  };
  CHECK_FALSE(fails({1, -2, 3}));
  CHECK(fails({1, -2, 3.001f}));
  CHECK(fails({1, std::nanf(""), 3}));
  CHECK(fails({1, INFINITY, 3}));
  CHECK(fails({1, -2}));

  const auto differs = [](const Floats& a, const Floats& b) {
    Check check("op", 1);
    check.same("here", a, b);
    return !check.ok();
  };
  CHECK_FALSE(differs({1, 2}, {1, 2}));
  CHECK(differs({1, 2}, {1, std::nextafter(2.0f, 3.0f)}));
  CHECK(differs({0.0f}, {-0.0f}));
  CHECK(differs({1, 2}, {1}));
}

TEST_CASE("a report names the first mismatch") {
  Check check("op", 7);
  check.near("good", Floats{1}, std::vector<double>{1});
  check.near("bad", Floats{1, 5}, std::vector<double>{1, 2});
  check.holds("worse", false);
  CHECK(check.first_mismatch() == R"({"in":"bad","index":1,"got":5,"want":2})");
  const std::string report = check.report();
  CHECK(report.find(R"("check":"op","ok":false)") != std::string::npos);
  CHECK(report.find(R"("cases":3,"failed":2,"seed":7)") != std::string::npos);
}

}  // namespace
}  // namespace kernels

// The loop lives through faults; a seed is a life, always the same. `nightshift simulate` runs
// more.
#include "orchestrator/simulator/simulate.h"

#include <catch2/catch.hpp>
#include <iostream>

#include "base/files.h"
#include "base/log.h"

namespace orchestrator {
namespace {

constexpr std::uint64_t kSeeds = 150;            // of `simulate`, beginning with 1
constexpr std::uint64_t kExhaustive[] = {3, 4};  // seeds of which every commit is crashed at

void expect_none(const Simulated& result) {
  for (const Failure& failure : result.failures) {
    std::string lines = failure.violation.text();
    for (const std::string& fault : failure.faults) lines += "\n  needs " + fault;
    for (const std::string& line : failure.trace) lines += "\n    " + line;
    FAIL_CHECK("seed " << failure.seed << ": " << lines);
  }
}

// Failures that are meant are told in thousands.
void be_quiet() { REQUIRE(base::start_log({base::LogLevel::error, "/dev/null"})); }

}  // namespace

TEST_CASE("no fault breaks an invariant") {
  be_quiet();
  std::cout << "seeds 1.." << kSeeds << "\n";
  SimulateOptions options;
  options.last = kSeeds;
  Simulated result = simulate(options);
  expect_none(result);
  CHECK(result.seeds == kSeeds);
  // A simulator in which nothing happens finds nothing.
  CHECK(result.faults > static_cast<int>(kSeeds));
  CHECK(result.restarts > static_cast<int>(2 * kSeeds));
  CHECK(result.experiments > static_cast<int>(2 * kSeeds));
  CHECK(result.landed > 5);
}

TEST_CASE("several nights of a campaign keep the invariants too") {
  be_quiet();
  SimulateOptions options;
  options.first = 10'001;
  options.last = 10'020;
  options.nights = 3;
  std::cout << "seeds " << options.first << ".." << options.last << ", three nights\n";
  Simulated result = simulate(options);
  expect_none(result);
  CHECK(result.nights > 30);
}

TEST_CASE("a crash at any commit of a seed breaks no invariant") {
  be_quiet();
  for (std::uint64_t seed : kExhaustive) {
    std::cout << "seed " << seed << ", all commits\n";
    SimulateOptions options{seed, seed, 1, true, 0};
    Simulated result = simulate(options);
    expect_none(result);
    CHECK(result.lives > 30);
  }
}

TEST_CASE("a seed is always the same life, and another seed another one") {
  be_quiet();
  base::TempDir folder(memory_folder());
  LifeOptions options{true, folder / "life"};
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    Life once = live(draw_plan(seed, 1), options);
    Life again = live(draw_plan(seed, 1), options);
    CHECK(once.hash == again.hash);
    CHECK(once.commits == again.commits);
    CHECK(once.trace == again.trace);
    hashes.insert(once.hash);
  }
  CHECK(hashes.size() == 10);
}

TEST_CASE("what is found does not depend on the number of threads") {
  be_quiet();
  Simulated one = simulate({1, 20, 1, false, 1}), three = simulate({1, 20, 1, false, 3});
  CHECK(one.hash == three.hash);
  CHECK(one.commits == three.commits);
}

}  // namespace orchestrator

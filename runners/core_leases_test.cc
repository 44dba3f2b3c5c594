#include "runners/core_leases.h"

#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/rng.h"

namespace runners {
namespace {

TEST_CASE("a measurement gets exactly its cores, a build at most as many as are free") {
  CorePool pool({0, 1, 2, 3});
  auto measure = pool.acquire(Purpose::measure, 2, {});
  REQUIRE(measure);
  CHECK(measure->cores() == std::vector<int>{2, 3});
  auto build = pool.acquire(Purpose::build, 8, {});
  REQUIRE(build);
  CHECK(build->cores() == std::vector<int>{0, 1});
}

TEST_CASE("a measurement waits while a build holds the cores, and runs when it is over") {
  CorePool pool({0, 1});
  std::optional<CorePool::Lease> build(std::move(*pool.acquire(Purpose::build, 2, {})));
  std::atomic<bool> measuring{false};
  std::jthread waiter([&] {
    auto lease = pool.acquire(Purpose::measure, 1, {});
    measuring = lease.has_value();
  });
  base::wait_s(0.02);
  CHECK_FALSE(measuring);
  build.reset();
  waiter.join();
  CHECK(measuring);
}

TEST_CASE("more cores than the machine has are refused for a measurement, cut for a build") {
  CorePool pool({5});
  auto refused = pool.acquire(Purpose::measure, 2, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == base::ErrorCode::refused);
  CHECK(pool.acquire(Purpose::build, 2, {})->cores() == std::vector<int>{5});
}

TEST_CASE("a stop request ends the wait and lets the next in line go on") {
  CorePool pool({0, 1});
  auto held = pool.acquire(Purpose::measure, 1, {});
  std::stop_source stop;
  std::jthread wide([&] { CHECK_FALSE(pool.acquire(Purpose::measure, 2, stop.get_token())); });
  base::wait_s(0.02);
  std::atomic<bool> got{false};
  std::jthread narrow([&] { got = pool.acquire(Purpose::build, 1, {}).has_value(); });
  base::wait_s(0.02);
  CHECK_FALSE(got);  // first come, first served
  stop.request_stop();
  narrow.join();
  CHECK(got);
}

TEST_CASE("small builds do not overtake a measurement for ever") {
  CorePool pool({0, 1});
  std::atomic<bool> done{false};
  auto builds = [&] {
    while (!done) {
      auto lease = pool.acquire(Purpose::build, 1, {});
      base::wait_s(0.0002);
    }
  };
  std::jthread first(builds), second(builds);
  base::wait_s(0.005);
  for (int i = 0; i < 20; ++i) REQUIRE(pool.acquire(Purpose::measure, 2, {}));
  done = true;
}

TEST_CASE("a core has one holder at any time and all come back") {
  CorePool pool({0, 1, 2});
  std::atomic<int> holders[3] = {};
  std::atomic<bool> shared{false};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      threads.emplace_back([&, seed] {
        base::Rng rng(seed);
        for (int i = 0; i < 300; ++i) {
          auto purpose = rng.coin() ? Purpose::measure : Purpose::build;
          auto lease = pool.acquire(purpose, 1 + static_cast<int>(rng.below(3)), {});
          for (int core : lease->cores()) {
            if (holders[core].fetch_add(1) != 0) shared = true;
          }
          for (int core : lease->cores()) holders[core].fetch_sub(1);
        }
      });
    }
  }
  CHECK_FALSE(shared);
  CHECK(pool.acquire(Purpose::measure, 3, {})->cores() == std::vector<int>{0, 1, 2});
}

TEST_CASE("this process may run on at least one core") {
  CHECK_FALSE(CorePool::usable_cores().empty());
}

}  // namespace
}  // namespace runners

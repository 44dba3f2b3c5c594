#include "serving/core/thread_pool.h"

#include <catch2/catch.hpp>
#include <cstdint>

using serving::ThreadPool;

TEST_CASE("every task runs once, whatever their number and that of the threads") {
  const int threads = GENERATE(1, 2, 5);
  ThreadPool pool(threads, threads == 2);
  CHECK(pool.threads() == threads);
  for (int count : {0, 1, 2, 3, 17, 200}) {
    std::vector<int> runs(count);
    pool.run(count, [&](int task, int) { ++runs[task]; });
    CHECK(runs == std::vector<int>(count, 1));
  }
}

TEST_CASE("a worker's number is its own while it works, and what it wrote is seen after the job") {
  ThreadPool pool(4);
  std::vector<std::int64_t> sums(pool.threads());  // without locks: the number is what guards them
  std::int64_t expected = 0;
  for (int job = 0; job < 2000; ++job) {
    const int count = 1 + job % 7;
    pool.run(count, [&](int task, int worker) { sums[worker] += task + job; });
    for (int task = 0; task < count; ++task) expected += task + job;
    std::int64_t sum = 0;
    for (std::int64_t s : sums) sum += s;
    REQUIRE(sum == expected);
  }
}

TEST_CASE("a pool without a job ends at once") {
  for (int i = 0; i < 20; ++i) ThreadPool pool(3);
}

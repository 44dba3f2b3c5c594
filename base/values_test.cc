// clock, id, rng, queue and result: the small values everything else is made of.
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "base/build_id.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/id.h"
#include "base/queue.h"
#include "base/result.h"
#include "base/rng.h"

namespace {

struct ThingTag {
  static constexpr std::string_view prefix = "T";
};
using ThingId = base::Id<ThingTag>;

base::Result<int> half(int n) {
  if (n % 2 != 0) return base::fail(base::ErrorCode::bad_input, "odd", "half");
  return n / 2;
}
base::Result<int> quarter(int n) {
  NS_ASSIGN(once, half(n));
  NS_ASSIGN(twice, half(once));
  return twice;
}

}  // namespace

TEST_CASE("instants are written in UTC with milliseconds, also before 1970") {
  CHECK(base::to_text({0}) == "1970-01-01T00:00:00.000Z");
  CHECK(base::to_text({1796094245678}) == "2026-12-01T03:04:05.678Z");
  CHECK(base::to_text({-1}) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("the system clock's monotonic time does not go back") {
  base::SystemClock clock;
  double before = clock.monotonic_s();
  CHECK(clock.monotonic_s() >= before);
  CHECK(clock.now().ms > 1'600'000'000'000);
}

TEST_CASE("a manual clock moves when it is told to") {
  base::ManualClock clock({1000});
  clock.advance_s(1.5);
  CHECK(clock.now().ms == 2500);
  CHECK(clock.monotonic_s() == Approx(2.5));
}

TEST_CASE("an id is read in its own text form only") {
  CHECK(ThingId{12}.text() == "T-12");
  CHECK(ThingId::parse("T-12") == ThingId{12});
  CHECK(ThingId::parse("12") == ThingId{12});
  for (auto bad :
       {"", "T", "T-", "H-12", "T-0", "-1", "T--1", "12x", " 12", "99999999999999999999"}) {
    INFO(bad);
    CHECK_FALSE(ThingId::parse(bad));
  }
}

TEST_CASE("equal seeds give equal streams, other seeds and names others") {
  base::Rng a(7), b(7), c(8);
  std::uint64_t first = a.next();
  CHECK(first == b.next());
  CHECK(first != c.next());
  CHECK(base::seed_from(1, "x") != base::seed_from(1, "y"));
  CHECK(base::seed_from(1, "x") != base::seed_from(2, "x"));
  // The first value of SplitMix64 with seed 0, as published.
  CHECK(base::Rng(0).next() == 0xe220a8397b1dcdafULL);
}

TEST_CASE("uniform numbers stay in their range and shuffles keep every item") {
  base::Rng rng(3);
  for (int i = 0; i < 10000; ++i) {
    double u = rng.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    REQUIRE(rng.below(5) < 5);
  }
  std::vector<int> items{1, 2, 3, 4, 5, 6, 7, 8};
  rng.shuffle(items);
  CHECK(std::set<int>(items.begin(), items.end()).size() == 8);
}

TEST_CASE("a queue hands over in order, times out, and wakes its reader when closed") {
  base::Queue<int> queue;
  queue.push(1);
  queue.push(2);
  CHECK(queue.pop(std::chrono::milliseconds(0)) == 1);
  CHECK(queue.pop(std::chrono::milliseconds(0)) == 2);
  CHECK_FALSE(queue.pop(std::chrono::milliseconds(1)));
  std::jthread closer([&] { queue.close(); });
  CHECK_FALSE(queue.pop(std::chrono::minutes(5)));
  CHECK(queue.closed());
}

TEST_CASE("an error passes through with its code and context") {
  CHECK(quarter(8) == 2);
  auto odd = quarter(6);
  REQUIRE_FALSE(odd);
  CHECK(odd.error().code == base::ErrorCode::bad_input);
  CHECK(odd.error().text() == "half: odd");
}

TEST_CASE("the build id is the one that the linker wrote into this program") {
  const std::string id = base::build_id();
  REQUIRE(id.size() >= 16);
  std::string bytes;
  for (std::size_t i = 0; i < id.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16));
  }
  const auto program = base::read_file("/proc/self/exe");
  REQUIRE(program);
  CHECK(program->find(std::string("GNU\0", 4) + bytes) != std::string::npos);
}

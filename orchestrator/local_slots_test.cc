#include "orchestrator/local_slots.h"

#include <catch2/catch.hpp>

namespace orchestrator {
namespace {

using hypotheses::ExperimentId;

const LocalSlots::Holds kNone = [](const std::string&) { return false; };

LocalSlots::Holds only(const std::string& slot) {
  return [slot](const std::string& asked) { return asked == slot; };
}

LocalSlots::Wanted warm(std::int64_t experiment) { return {"warm", 2, ExperimentId{experiment}}; }

}  // namespace

TEST_CASE("a slot with the build is taken before an idle one, and an idle one by age") {
  LocalSlots slots;
  CHECK(slots.take(warm(1), only("warm-1"), kNone).slot == "warm-1");
  CHECK(slots.take(warm(2), kNone, kNone).slot == "warm-0");
  CHECK(slots.take(warm(3), kNone, kNone).slot == "warm-1");  // used longest ago
  CHECK(slots.take(warm(4), kNone, only("warm-0")).slot == "warm-1");
}

TEST_CASE("no two experiments are in one slot, and a third is made when all are taken") {
  LocalSlots slots;
  auto base = slots.take(warm(1), kNone, kNone);
  auto candidate = slots.take(warm(1), kNone, only(base.slot));
  CHECK(base.slot != candidate.slot);
  // Even one that holds the wanted build.
  auto other = slots.take(warm(2), only(base.slot), kNone);
  CHECK(other.slot == "warm-2");
  // The same experiment may measure one commit against itself.
  CHECK(slots.take(warm(1), only(base.slot), kNone).slot == base.slot);
  base.hold.reset();
  CHECK(slots.take(warm(3), kNone, kNone).slot == base.slot);
}

TEST_CASE("a slot is removed only while nobody has it") {
  LocalSlots slots;
  int removed = 0;
  auto taken = slots.take({"patch-abc", 1, ExperimentId{1}}, kNone, kNone);
  CHECK(taken.slot == "patch-abc-0");
  CHECK_FALSE(slots.if_free(taken.slot, [&] { ++removed; }));
  taken.hold.reset();
  CHECK(slots.if_free(taken.slot, [&] { ++removed; }));
  CHECK(removed == 1);
}

}  // namespace orchestrator

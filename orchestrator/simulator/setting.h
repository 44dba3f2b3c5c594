// What a seed stands for before anything goes wrong: a target with its truths and its noise, and
// campaigns on it.
#pragma once

#include <cstdint>
#include <vector>

#include "orchestrator/simulator/fake_target.h"
#include "web/api/ports.h"

namespace orchestrator {

// What a person does with a merge that waits, when no fault interferes.
enum class Habit { approves, approves_what_was_shown, rejects, sleeps };

struct Setting {
  FakeWorld world;
  std::vector<web::CreateCampaign> campaigns;
  Habit habit = Habit::approves;
  std::int64_t snapshot_every = 1;  // events
};

Setting draw_setting(std::uint64_t seed);

}  // namespace orchestrator

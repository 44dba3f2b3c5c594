// What goes wrong in one simulated life, as a list that can be shortened: each fault says where it
// strikes and needs no other one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace orchestrator {

// Where: `at` counts commits (the first five) or turns. A turn is a moment in which the loop has
// decided on everything that was posted, and one more thing happens in the world.
enum class FaultKind {
  crash_before_commit,  // the process dies before the commit is durable
  crash_after_commit,   // after it, before its effects are begun
  crash_when_begun,     // after its effects were given out
  commit_busy,          // another process holds the database: `size` commits in a row fail
  disk_full,            // likewise
  crash,                // between two events
  completion_late,      // the next completion comes `size` turns later
  completion_twice,
  completion_lost,  // its worker died: it is had again after a restart
  machine_fails,    // the next attempt cannot be made at all
  git_fails,        // the next order to the repository fails
  base_moves,       // somebody pushes: 0 another file, 1 the same knob, 2 the gain itself
  clock_jumps,      // by `size` seconds, also backward
  approve,          // of the tested commit
  approve_other,    // of a commit that was never tested, or not any more
  approve_twice,
  approve_and_reject,
  reject,
  pause,
  resume,
  cancel,
  start_night,
  propose,
};

struct Fault {
  FaultKind kind = FaultKind::crash;
  int at = 0;
  int size = 0;
};
std::string to_text(const Fault& fault);

struct Plan {
  std::uint64_t seed = 1;
  int nights = 1;  // of each campaign
  std::vector<Fault> faults;
};

Plan draw_plan(std::uint64_t seed, int nights);

}  // namespace orchestrator

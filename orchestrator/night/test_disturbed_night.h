// Nights of a daemon in a process of its own that is killed, and what must hold at their end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/files.h"
#include "orchestrator/night/toy_target.h"

namespace orchestrator {

inline constexpr int kCrashed = 99;  // exit code of a child that crashed where it was told to

// Starts a daemon on the state folder that runs its night to the end, or crashes `when` ("before",
// "after") its nth commit.
pid_t start_child(const std::filesystem::path& state, const ToyTarget& target,
                  const std::string& when = "", int nth = 0);
int wait_for(pid_t child);  // the exit code; minus the signal that ended it

// What a night came to, as text that two nights can be compared by.
struct EndState {
  std::string verdicts;
  std::string merges;
};
EndState read_end(const std::filesystem::path& state);

// The same night as the undisturbed one, nothing in it twice, nothing left over.
void check_end(const std::filesystem::path& state, const EndState& undisturbed);

// Nothing recorded twice, nothing left running, no process and no lock left, no gap in the log.
void check_record(const std::filesystem::path& state);

std::int64_t events_in(const std::filesystem::path& state);  // 0 where there is no database

// A night on a toy target that nobody disturbs; made at the first call.
struct Undisturbed {
  base::TempDir folder;
  ToyTarget target;
  EndState end;
  double wall_s = 0;
};
std::unique_ptr<Undisturbed> live_undisturbed(double launch_s);  // as in make_toy_target
const Undisturbed& undisturbed();                                // the quick one, lived once

}  // namespace orchestrator

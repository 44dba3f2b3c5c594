// How the command line reaches a state folder: reads come from the store itself, commands go to the
// daemon that holds the folder, or, where none runs, are carried out in this process.
#pragma once

#include <filesystem>

#include "base/clock.h"
#include "base/result.h"
#include "store/reader.h"
#include "web/api/ports.h"

namespace orchestrator {

// The store of the folder, for reading. Says what to do when nothing was ever recorded there.
base::Result<store::Reader> open_reader(const std::filesystem::path& state);

// Carries the command out and waits until it is recorded, and for an approval until it landed or
// could not. `unavailable` when a daemon runs but does not answer.
base::Result<web::Reply> give_command(const std::filesystem::path& state,
                                      const web::Command& command, const base::Clock& clock);

}  // namespace orchestrator

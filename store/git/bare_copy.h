// A bare repository of the daemon's own, made from a folder: the demo's target.
#pragma once

#include <filesystem>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "hypotheses/ids.h"

namespace store::git {

// Creates `bare` with `branch` at what `source` holds: the commit that is checked out there, with
// its history, or, where `source` is no git repository (or one that cannot be copied, such as a
// shallow clone), one commit of its files at `time`, hidden and build folders left out. `source` is
// only read. conflict when `bare` exists already.
base::Result<hypotheses::CommitId> make_bare_copy(const std::filesystem::path& source,
                                                  const std::filesystem::path& bare,
                                                  const std::string& branch, base::Instant time);

}  // namespace store::git

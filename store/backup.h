// A copy of the database as one file.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "store/sqlite.h"

namespace store {

// In one step through `db`: a backup in small steps would begin anew at each write. The copy
// appears under its name only once it has been opened and found healthy.
base::Status back_up(Connection& db, const std::filesystem::path& file);

}  // namespace store

// The tables, as a numbered list of migrations. The database's user_version is the number of the
// last one that ran.
#pragma once

#include <span>

#include "base/result.h"
#include "store/sqlite.h"

namespace store {

inline constexpr std::int64_t kApplicationId = 0x4e537466;  // "NStf": tells our files from others

struct Migration {
  int version;      // counts from 1 without gaps
  const char* sql;  // statements, run in one transaction with those of the other missing versions
};

std::span<const Migration> migrations();

// Error unless the file is ours and of a version that we know. An empty file is of version 0.
base::Result<int> schema_version(Connection& db, int newest);

// Brings the database to the newest version, all or nothing.
base::Status migrate(Connection& db, std::span<const Migration> steps = migrations());

// SQLite's own check of the whole file, its indexes against their tables too: seconds at 100,000
// experiments.
base::Status check_integrity(Connection& db);

// For each start, in bounded time: the file's structure alone, and of a file above the limit
// without the tables that grow with every run and the snapshots, which have a hash. A backup checks
// everything.
inline constexpr std::int64_t kCheckedWholeBytes = std::int64_t{64} << 20;
base::Status check_at_start(Connection& db, std::int64_t whole_up_to_bytes = kCheckedWholeBytes);

}  // namespace store

// The table `snapshots`: at most one, guarded by a hash.
#pragma once

#include <optional>

#include "store/sqlite.h"
#include "store/store.h"

namespace store {

base::Status replace_snapshot(Connection& db, const Snapshot& snapshot);

// Error corrupt when its hash does not fit, or it holds events that the log does not have.
base::Result<std::optional<Snapshot>> newest_snapshot(Connection& db, std::int64_t last_seq);

}  // namespace store

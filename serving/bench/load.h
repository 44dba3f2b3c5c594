// Puts a workload on a server: each worker takes the next conversation, waits for its time, and
// sends its turns one after another. A closed loop is the case where all times are zero and the
// workers are as many as the concurrency.
#pragma once

#include <vector>

#include "serving/bench/client.h"
#include "serving/bench/workload.h"

namespace serving::bench {

struct LoadOptions {
  int workers = 1;         // requests under way at most
  std::uint64_t seed = 0;  // of answers that stand in for a server that returns no token ids
};

struct LoadResult {
  std::vector<RequestRecord> records;  // in the order of the workload
  double duration_s = 0;               // from the first request to the last answer
};

LoadResult run_load(const Workload& workload, const ClientOptions& client,
                    const LoadOptions& options);

}  // namespace serving::bench

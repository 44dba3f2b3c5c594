// The queries that pages are made of, as store_bench asks them.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/result.h"
#include "orchestrator/history.h"
#include "store/reader.h"

namespace orchestrator {

// By query, the milliseconds of its slowest page: each is asked for in many places of the history,
// three times over, of which the quickest counts (what the machine did besides is no property of
// the query).
base::Result<std::map<std::string, double>> time_pages(const std::filesystem::path& folder,
                                                       const History& history);

// A few of them, for a thread that reads all the time.
base::Status read_some_pages(const store::Reader& reader);

}  // namespace orchestrator

// Published traces of requests: JSON lines as Mooncake writes them (timestamp in ms, input_length,
// output_length, hash_ids of 512-token blocks), or CSV as Azure does (TIMESTAMP, ContextTokens,
// GeneratedTokens); a CSV may also have the names of the former.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "serving/core/result.h"

namespace serving::bench {

constexpr int kTraceBlockTokens = 512;

struct TraceEntry {
  double at_s = 0;  // after the first entry
  int input_tokens = 0, output_tokens = 0;
  std::vector<std::int64_t> blocks;  // equal ids: equal content; empty where the trace has none
};

// At most `most` entries. bad_input: names the line; not_found: no such file.
Result<std::vector<TraceEntry>> read_trace(const std::string& path, std::size_t most);
Result<std::vector<TraceEntry>> parse_trace(std::istream& in, std::size_t most);

}  // namespace serving::bench

// The history in open formats (docs/cli.md, `export`): JSON lines, CSV tables, and Bencher Metric
// Format. Written as it is read; memory does not grow with the history.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace orchestrator {

// A file that was written, with how many lines or values it holds.
struct Exported {
  std::filesystem::path file;
  std::int64_t items = 0;
};

// facts.jsonl, hypotheses.jsonl, experiments.jsonl, runs.jsonl.
base::Result<std::vector<Exported>> export_json_lines(const store::Reader& reader,
                                                      const std::filesystem::path& folder);
// hypotheses.csv, experiments.csv, runs.csv, observations.csv (RFC 4180, first line = names).
base::Result<std::vector<Exported>> export_csv(const store::Reader& reader,
                                               const std::filesystem::path& folder);
// N-1.json and so on: what each night measured of its base commit, as `bencher run --adapter json`
// takes it: median, least and greatest value of each metric.
base::Result<std::vector<Exported>> export_bmf(const store::Reader& reader,
                                               const std::filesystem::path& folder);

// One line for each recorded fact: {"seq", "at_ms", "kind", "fact"}.
base::Result<std::int64_t> write_facts(const store::Reader& reader, std::ostream& out);

// The newest night that measured anything of its base; nothing when none did.
base::Result<std::int64_t> write_newest_bmf(const store::Reader& reader, std::ostream& out);

}  // namespace orchestrator

// What a run measured, in the JSON shape of vLLM's serving benchmark.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "serving/bench/load.h"
#include "serving/core/result.h"

namespace serving::bench {

// Upper limits in ms by metric: ttft, tpot, e2el. A request is good when it meets all of them.
using Goodput = std::map<std::string, double>;

// "ttft:200 tpot:50", each as one text. bad_input: no such metric, or no number above 0.
Result<Goodput> parse_goodput(const std::vector<std::string>& limits);

struct ReportOptions {
  std::vector<double> percentiles = {50, 90, 95, 99};
  Goodput goodput;
  bool detailed = false;  // also each request's own numbers
};

// The p-th percentile, interpolated between neighbours (numpy's default); 0 of nothing.
double percentile(std::vector<double> values, double p);

nlohmann::ordered_json report(const LoadResult& result, const ReportOptions& options);

// The same for people, some lines.
std::string summary(const nlohmann::ordered_json& report);

}  // namespace serving::bench

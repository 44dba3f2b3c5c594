#include "policies/limits.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace policies {
namespace {

using hypotheses::Better;
using hypotheses::Limit;

struct Row {
  const char* what;
  Better better;
  const char* unit;
  std::optional<Limit> limit;
  double copy_rate;  // bytes/s
  double base, candidate;
  const char* flag;
};

TEST_CASE("results that are too good to be true are flagged") {
  const Row rows[] = {
      {"believed", Better::lower, "ns", {}, 0, 100, 60, ""},
      {"more than ten times", Better::lower, "ns", {}, 0, 100, 9, "above 10x"},
      {"ten times worse is just that", Better::lower, "ns", {}, 0, 100, 2000, ""},
      {"within a limit", Better::higher, "GB/s", Limit{800, false}, 0, 500, 799, ""},
      {"beyond a rate's limit", Better::higher, "GB/s", Limit{800, false}, 0, 500, 810,
       "above the limit (810 GB/s against 800 GB/s)"},
      {"below a time's limit", Better::lower, "ns", Limit{50, false}, 0, 100, 40,
       "below the limit (40 ns against 50 ns)"},
      {"copies no faster than the machine", Better::higher, "GB/s", Limit{0, true}, 400e9, 300, 430,
       ""},
      {"copies faster than the machine", Better::higher, "GB/s", Limit{0, true}, 400e9, 300, 450,
       "above the machine's copy rate (450 GB/s against 440 GB/s)"},
      {"in its own unit", Better::higher, "MiB/s", Limit{0, true}, 1e9, 800, 1100,
       "above the machine's copy rate (1100 MiB/s against 1049 MiB/s)"},
      {"nobody measured the copy rate", Better::higher, "GB/s", Limit{0, true}, 0, 300, 450, ""},
      {"the base too", Better::higher, "GB/s", Limit{400, false}, 0, 410, 450,
       "above the limit (450 GB/s against 400 GB/s; so is the base: check the limit)"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    hypotheses::Metric metric;
    metric.better = row.better;
    metric.unit = row.unit;
    metric.limit = row.limit;
    hypotheses::Evidence evidence;
    evidence.pairs = 8;
    evidence.base_value = row.base;
    evidence.candidate_value = row.candidate;
    const double log_ratio = std::log(row.candidate / row.base);
    evidence.effect = row.better == Better::lower ? -log_ratio : log_ratio;
    CHECK(flag_of(evidence, metric, 10, {row.copy_rate}) == row.flag);
    evidence.pairs = 0;
    CHECK(flag_of(evidence, metric, 10, {row.copy_rate}).empty());
  }
}

}  // namespace
}  // namespace policies

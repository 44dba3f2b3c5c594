// What the runs of an experiment reported besides the metric that was judged: counters, other
// conditions, times of spans. It tells where an effect sits; nothing was decided on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hypotheses/types.h"

namespace web {

struct AlsoMeasured {
  hypotheses::MetricKey key;
  std::string unit;
  int pairs = 0;                    // with the metric on both sides
  double base = 0, candidate = 0;   // medians over these
  std::optional<double> log_ratio;  // median of log(candidate / base); none unless all are above 0
};

// What changed most first; what has no ratio last.
std::vector<AlsoMeasured> also_measured(const hypotheses::Experiment& experiment,
                                        const std::vector<hypotheses::Run>& runs);

// "serve.span_ms{span=attention}  12.1 ms to 8.4 ms (-31%, 6 pairs)"
std::string to_text(const AlsoMeasured& row);

}  // namespace web

// How much of a metric's time a change touches, from timelines of the base commit (DESIGN 5).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hypotheses/manifest.h"
#include "hypotheses/types.h"

namespace policies {

// What a timeline says about one metric.
struct MetricShares {
  std::string probe;          // the timeline's
  hypotheses::MetricKey key;  // the metric whose time it divides, in the timeline's conditions
  std::vector<hypotheses::StackShare> stacks;
  // A span -> what it stands for: globs of paths, or "knob:<glob>".
  std::map<std::string, std::vector<std::string>> spans;
};

// What a claim changes.
struct Touched {
  std::vector<std::string> paths, knobs;
  hypotheses::Layer layer = hypotheses::Layer::kernel;  // of the claim's own metric
};

struct ChangeShare {
  double share = 1;
  bool known = false;  // else it is an assumption
  std::string reason;  // in a sentence
};

// The share of `key`'s time that the change accounts for:
//  - where the metric's layer is the claim's own, all of it: the claim is about this time;
//  - where a timeline shows the metric, in conditions that are among the key's, and one of its
//  spans
//    stands for something that the change touches: the instants in which any such span is open,
//    whatever was called inside it, each counted once;
//  - else nobody knows, and all of it is assumed.
ChangeShare share_of_change(const std::vector<MetricShares>& shares,
                            const hypotheses::MetricKey& key, hypotheses::Layer metric_layer,
                            const Touched& touched);

}  // namespace policies

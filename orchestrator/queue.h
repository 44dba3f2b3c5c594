// The hypotheses that wait, and which of them a night takes up next: the greatest expected gain per
// cost (policies/order.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hypotheses/manifest.h"
#include "hypotheses/types.h"
#include "policies/choice.h"
#include "policies/policy.h"
#include "policies/shares.h"

namespace orchestrator {

struct State;
struct NightRecord;

// What is the same for many waiting hypotheses is weighed once for all: kin by lineage, with the
// same questions at the same probes, and predictions within a factor of two.
struct QueueGroup {
  policies::Lineage lineage;
  std::vector<policies::OpenQuestion> questions;  // of the first that came
};

struct Queue {
  struct Place {
    std::size_t group = 0;
    double predicted = 0;  // oriented log-ratio on its own metric
    bool by_person = false;
  };
  std::vector<QueueGroup> groups;
  std::map<std::string, std::size_t> group_by_key;
  std::map<hypotheses::HypothesisId, Place> waiting;
};

void enter(Queue& queue, const hypotheses::Hypothesis& hypothesis,
           const hypotheses::Manifest& manifest, const std::vector<policies::MetricShares>& shares,
           const policies::Policy& policy);
void leave(Queue& queue, hypotheses::HypothesisId id);

struct NextUp {
  hypotheses::HypothesisId hypothesis;
  std::string why;  // with the numbers, and who comes next
};
std::optional<NextUp> next_up(const State& state, const NightRecord& night);

// Why a queued hypothesis is not under test: what it waits for, its place, and its numbers.
std::string why_waiting(const State& state, const hypotheses::Hypothesis& hypothesis,
                        base::Instant now);

}  // namespace orchestrator

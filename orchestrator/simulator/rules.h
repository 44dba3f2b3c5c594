// The invariants that are about one fact or one effect: each rule sees it before the ledger does.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "orchestrator/simulator/ledger.h"

namespace orchestrator {

// Names of invariants that are also checked at the end of a night.
inline constexpr const char* kBudget = "budget-not-exceeded";
inline constexpr const char* kPlanner = "planner-spend-bounded";
inline constexpr const char* kUnapproved = "no-unapproved-merge";
inline constexpr const char* kUntested = "no-untested-merge";

struct RuleContext {
  const Ledger& ledger;  // without the fact or effect in question
  base::Instant at;
  std::function<void(std::string invariant, std::string what)> broken;
};

// budget-not-exceeded, planner-spend-bounded
void check_spending(const RuleContext& context, const hypotheses::Fact& fact);
void check_spending(const RuleContext& context, const Effect& effect);
// Reserved by what runs in a night, beyond what it cost so far; tokens asked for and not answered.
double reserved_s(const Ledger& ledger, hypotheses::NightId night);
std::int64_t reserved_tokens(const Ledger& ledger, hypotheses::NightId night);

// no-verdict-below-its-evidence, invalid-never-refuted
void check_evidence(const RuleContext& context, const hypotheses::Fact& fact);
// The oriented log-ratios of the pairs of which both runs went well.
std::vector<double> log_ratios(const SeenExperiment& experiment, hypotheses::Better better);

// confirmation-level, no-unapproved-merge, no-untested-merge
void check_merges(const RuleContext& context, const hypotheses::Fact& fact);
void check_merges(const RuleContext& context, const Effect& effect);
// Why the merge commit counts as not measured; empty when it is.
std::string untested(const Ledger& ledger, const SeenMerge& merge);

// builds-before-correct-before-speed, no-costlier-before-cheaper, one-night-at-a-time,
// paused-starts-nothing, protected-paths
void check_order(const RuleContext& context, const hypotheses::Fact& fact);
void check_order(const RuleContext& context, const Effect& effect);

// legal-transitions
void check_transitions(const RuleContext& context, const hypotheses::Fact& fact);

}  // namespace orchestrator

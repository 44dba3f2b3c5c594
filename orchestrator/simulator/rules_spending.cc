// Budgets, asked whenever something begins: what was spent, what runs, and what is to begin fit in.
#include <fmt/format.h>

#include <algorithm>

#include "orchestrator/simulator/rules.h"

namespace orchestrator {

using hypotheses::NightId;

namespace {

constexpr double kRounding_s = 1e-3;

const policies::Policy& policy_of(const Ledger& ledger, const SeenNight& night) {
  return ledger.campaigns.at(night.started.campaign).policy;
}

std::int64_t token_limit(const policies::Policy& policy) {
  std::int64_t limit = policy.planner.max_tokens;
  return policy.budget.tokens > 0 ? std::min(limit, policy.budget.tokens) : limit;
}

// A night that has ended measures only what a person asked for, which no budget limits.
void begin(const RuleContext& context, NightId id, const std::string& what, double estimate_s) {
  const SeenNight& night = context.ledger.nights.at(id);
  if (!night.running) return;
  const auto& budget = policy_of(context.ledger, night).budget;
  double machine_s = night.machine_s + reserved_s(context.ledger, id) + estimate_s;
  if (budget.machine_s > 0 && machine_s > budget.machine_s + kRounding_s) {
    context.broken(kBudget, fmt::format("{} begins in {} at {:.3f} machine-seconds of {}", what,
                                        id.text(), machine_s, budget.machine_s));
  }
  double wall_s = context.at.seconds_since(night.started.started) + estimate_s;
  if (budget.wall_s > 0 && wall_s > budget.wall_s + kRounding_s) {
    context.broken(kBudget, fmt::format("{} begins in {} and would end after {:.3f} s of {}", what,
                                        id.text(), wall_s, budget.wall_s));
  }
}

}  // namespace

double reserved_s(const Ledger& ledger, NightId night) {
  double sum = 0;
  for (const auto& [id, experiment] : ledger.experiments) {
    if (experiment.started.night != night) continue;
    if (experiment.state != hypotheses::ExperimentState::running) continue;
    sum += std::max(0.0, experiment.started.estimate_s - experiment.cost_s);
  }
  return sum;
}

std::int64_t reserved_tokens(const Ledger& ledger, NightId night) {
  std::int64_t sum = 0;
  for (const auto& [id, effect] : ledger.pending) {
    const auto* ask = std::get_if<AskPlanner>(&effect);
    if (ask != nullptr && ask->night == night) sum += ask->reserved_tokens;
  }
  return sum;
}

void check_spending(const RuleContext& context, const hypotheses::Fact& fact) {
  if (const auto* started = std::get_if<hypotheses::ExperimentStarted>(&fact)) {
    const auto& experiment = started->experiment;
    begin(context, experiment.night, experiment.id.text(), experiment.estimate_s);
    const SeenNight& night = context.ledger.nights.at(experiment.night);
    int limit = policy_of(context.ledger, night).budget.experiments;
    if (night.running && limit > 0 && night.experiments >= limit) {
      context.broken(kBudget, fmt::format("{} is experiment {} of {} in {}", experiment.id.text(),
                                          night.experiments + 1, limit, experiment.night.text()));
    }
  }
  if (const auto* spoke = std::get_if<hypotheses::PlannerSpoke>(&fact)) {
    const SeenNight& night = context.ledger.nights.at(spoke->turn.night);
    std::int64_t limit = token_limit(policy_of(context.ledger, night));
    std::int64_t tokens = night.tokens + spoke->turn.tokens;
    if (tokens > limit) {
      context.broken(kPlanner, fmt::format("{} has spent {} tokens of {}", spoke->turn.night.text(),
                                           tokens, limit));
    }
  }
}

void check_spending(const RuleContext& context, const Effect& effect) {
  if (const auto* attempt = std::get_if<RunAttempt>(&effect.kind)) {
    const auto& experiment = context.ledger.experiments.at(attempt->experiment);
    begin(context, experiment.started.night,
          fmt::format("attempt {} of {}", attempt->attempt, attempt->experiment.text()), 0);
  }
  const auto* ask = std::get_if<AskPlanner>(&effect.kind);
  if (ask == nullptr) return;
  const SeenNight& night = context.ledger.nights.at(ask->night);
  const auto& policy = policy_of(context.ledger, night);
  std::int64_t tokens =
      night.tokens + reserved_tokens(context.ledger, ask->night) + ask->reserved_tokens;
  if (tokens > token_limit(policy)) {
    context.broken(kPlanner, fmt::format("{} commits {} tokens of {}", ask->night.text(), tokens,
                                         token_limit(policy)));
  }
  if (ask->turn > policy.planner.max_turns) {
    context.broken(kPlanner, fmt::format("{} takes turn {} of {}", ask->night.text(), ask->turn,
                                         policy.planner.max_turns));
  }
  if (night.failed_turns >= policy.planner.patience) {
    context.broken(kPlanner, fmt::format("{} asks the LLM again after {} turns without a step",
                                         ask->night.text(), night.failed_turns));
  }
}

}  // namespace orchestrator

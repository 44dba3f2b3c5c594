#include "orchestrator/simulator/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hypotheses/transitions.h"
#include "orchestrator/simulator/rules.h"

namespace orchestrator {

using hypotheses::EffectId;
using hypotheses::MergeRequestId;

namespace {

constexpr const char* kDrains = "queue-drains";
constexpr const char* kLost = "nothing-recorded-is-lost";
constexpr const char* kTwice = "nothing-runs-twice";
constexpr const char* kUnrecorded = "recorded-before-done";

}  // namespace

void Invariants::add(std::string invariant, std::string what) {
  if (told_.insert(invariant + what).second) {
    broken_.push_back({std::move(invariant), std::move(what)});
  }
}

void Invariants::asked(const web::Command& command) {
  if (const auto* approve = std::get_if<web::Approve>(&command)) approvals_.push_back(*approve);
}

void Invariants::committed(const store::Commit& commit) {
  RuleContext context{ledger_, commit.at, [this](std::string invariant, std::string what) {
                        add(std::move(invariant), std::move(what));
                      }};
  for (EffectId id : commit.done) {
    if (ledger_.pending.count(id) == 0) add(kTwice, id.text() + " is done a second time");
    ledger_.done(id);
  }
  for (const auto& fact : commit.facts) {
    check_record(fact);
    check_transitions(context, fact);
    check_spending(context, fact);
    check_evidence(context, fact);
    check_merges(context, fact);
    check_order(context, fact);
    ledger_.add(fact);
  }
  for (const auto& pending : commit.pending) {
    auto effect = from_pending(pending);
    if (!effect) {
      add(kLost, effect.error().text());
      continue;
    }
    check_effect(*effect);
    check_spending(context, *effect);
    check_merges(context, *effect);
    check_order(context, *effect);
    ledger_.ask(*effect);
  }
}

// Each run once, and only into an experiment that runs.
void Invariants::check_record(const hypotheses::Fact& fact) {
  if (const auto* recorded = std::get_if<hypotheses::RunRecorded>(&fact)) {
    const auto& run = recorded->run;
    const auto& experiment = ledger_.experiments.at(run.experiment);
    auto same = [&](const hypotheses::Run& other) {
      return other.attempt == run.attempt && other.side == run.side &&
             other.measured == run.measured;
    };
    if (std::any_of(experiment.runs.begin(), experiment.runs.end(), same)) {
      add(kTwice, fmt::format("{} records attempt {} of {} twice", run.experiment.text(),
                              run.attempt, to_text(run.side)));
    }
    if (!runs_.insert(run.id).second) add(kTwice, run.id.text() + " is recorded twice");
    if (experiment.state != hypotheses::ExperimentState::running) {
      add(kTwice,
          fmt::format("{} records {} after it was over", run.experiment.text(), run.id.text()));
    }
  }
  if (const auto* change = std::get_if<hypotheses::MergeChanged>(&fact)) {
    if (change->merged) made_[change->merged] = change->merge;
  }
  const auto* approved = std::get_if<hypotheses::MergeApproved>(&fact);
  if (approved == nullptr) return;
  bool meant = std::any_of(approvals_.begin(), approvals_.end(), [&](const web::Approve& said) {
    return said.merge == approved->merge && said.who == approved->who &&
           (!said.commit || said.commit == approved->commit);
  });
  if (!meant) {
    add(kUnapproved, fmt::format("{} is approved at {}, which nobody said", approved->merge.text(),
                                 approved->commit.brief()));
  }
  const SeenMerge& merge = ledger_.merges.at(approved->merge);
  if (meant && untested(ledger_, merge).empty()) sound_.insert(approved->commit);
}

void Invariants::check_effect(const Effect& effect) {
  if (!ever_.insert(effect.id).second) add(kTwice, effect.id.text() + " is used twice");
  const auto* attempt = std::get_if<RunAttempt>(&effect.kind);
  if (attempt == nullptr) return;
  if (ledger_.experiments.at(attempt->experiment).asked.count(attempt->attempt) != 0) {
    add(kTwice, fmt::format("attempt {} of {} is asked for twice", attempt->attempt,
                            attempt->experiment.text()));
  }
}

void Invariants::ordered(const Order& order) {
  if (ledger_.pending.count(order.id) == 0) {
    add(kUnrecorded, order.id.text() + " is performed without being recorded as pending");
  }
  if (!ordered_.insert(order.id).second) add(kTwice, order.id.text() + " is performed twice");
}

void Invariants::restarted(const store::Store& store, const State& state) {
  ordered_.clear();
  ever_.clear();
  for (const auto& [id, kind] : ledger_.pending) ever_.insert(id);
  std::int64_t facts = 0;
  std::uint64_t hash = 0;
  auto replayed = store.replay([&](const store::Event& event) -> base::Status {
    ++facts;
    hash = hash_with(hash, event.fact);
    return {};
  });
  if (!replayed) add(kLost, replayed.error().text());
  if (facts != ledger_.facts || hash != ledger_.hash) {
    add(kLost, fmt::format("{} facts were recorded, the log holds {}{}", ledger_.facts, facts,
                           facts == ledger_.facts ? " others" : ""));
  }
  auto outbox = store.outbox();
  std::set<EffectId> kept;
  if (outbox) {
    for (const auto& pending : *outbox) kept.insert(pending.id);
  }
  for (const auto& [id, kind] : ledger_.pending) {
    if (kept.count(id) == 0) add(kLost, id.text() + " was pending and is not in the outbox");
    if (state.pending.count(id) == 0) add(kLost, id.text() + " was pending and is forgotten");
  }
  if (kept.size() > ledger_.pending.size()) add(kLost, "the outbox holds what was done already");
}

void Invariants::check(const State& state) {
  check_accounts(state);
  check_landed();
}

namespace {

// Nothing more can come of it: it is over, and so are its night and all that its night merged.
bool may_be_forgotten(const Ledger& ledger, const hypotheses::Experiment& experiment) {
  if (ledger.nights.at(experiment.night).running) return false;
  if (ledger.experiments.at(experiment.id).state == hypotheses::ExperimentState::running) {
    return false;
  }
  return std::all_of(ledger.merges.begin(), ledger.merges.end(), [&](const auto& entry) {
    return entry.second.opened.night != experiment.night ||
           hypotheses::terminal(entry.second.state);
  });
}

}  // namespace

// The state is what the log adds up to, and its accounts count what is in flight.
void Invariants::check_accounts(const State& state) {
  constexpr double kRounding = 1e-6;
  for (const auto& [id, night] : state.nights) {
    auto known = ledger_.nights.find(id);
    if (known == ledger_.nights.end()) {
      add(kLost, id.text() + " is in the state and not in the log");
      continue;
    }
    if (!known->second.running) continue;
    policies::Spend spend = spend_of(state, night);
    double reserved = reserved_s(ledger_, id);
    if (std::abs(spend.machine_s - known->second.machine_s) > kRounding ||
        std::abs(spend.in_flight_s - reserved) > kRounding ||
        spend.experiments != known->second.experiments) {
      add(kBudget, fmt::format("{} accounts for {:.3f} s spent, {:.3f} s in flight and {} "
                               "experiments; {:.3f} s, {:.3f} s and {} are",
                               id.text(), spend.machine_s, spend.in_flight_s, spend.experiments,
                               known->second.machine_s, reserved, known->second.experiments));
    }
    std::int64_t tokens = known->second.tokens + reserved_tokens(ledger_, id);
    if (spend.tokens != tokens) {
      add(kPlanner, fmt::format("{} accounts for {} tokens, {} are committed", id.text(),
                                spend.tokens, tokens));
    }
  }
  for (const auto& [id, hypothesis] : ledger_.hypotheses) {
    auto found = state.hypotheses.find(id);
    if (found == state.hypotheses.end() || found->second.state != hypothesis.state ||
        found->second.verdict != hypothesis.verdict) {
      add(kLost, id.text() + " is not what was recorded of it");
    }
  }
  for (const auto& [id, experiment] : ledger_.experiments) {
    auto found = state.experiments.find(id);
    if (found == state.experiments.end() && may_be_forgotten(ledger_, experiment.started)) continue;
    if (found == state.experiments.end() || found->second.runs.size() != experiment.runs.size() ||
        found->second.experiment.state != experiment.state) {
      add(kLost, id.text() + " is not what was recorded of it");
    }
  }
  for (const auto& [id, merge] : ledger_.merges) {
    auto found = state.merges.find(id);
    if (found == state.merges.end() || found->second.state != merge.state ||
        found->second.merged != merge.merged) {
      add(kLost, id.text() + " is not what was recorded of it");
    }
  }
  bool same_pending = state.pending.size() == ledger_.pending.size();
  for (const auto& [id, kind] : ledger_.pending) same_pending &= state.pending.count(id) != 0;
  if (!same_pending) add(kLost, "the state's pending effects are not those of the outbox");
}

// The base branch holds nothing of ours but what was measured and approved, commit for commit, on
// the base that it was measured against.
void Invariants::check_landed() {
  const auto& tips = target_.history();
  for (; tips_seen_ < tips.size(); ++tips_seen_) {
    auto made = made_.find(tips[tips_seen_]);
    if (made == made_.end()) continue;  // somebody else's push
    std::string id = made->second.text();
    const SeenMerge& merge = ledger_.merges.at(made->second);
    if (sound_.count(tips[tips_seen_]) == 0) {
      add(kUnapproved, id + " landed without a sound approval of what landed");
    }
    if (merge.merged == tips[tips_seen_] && merge.base != tips[tips_seen_ - 1]) {
      add(kUntested, id + " landed on another base than it was measured against");
    }
  }
}

void Invariants::check_end(const State& state) {
  check(state);
  for (const auto& [id, effect] : ledger_.pending) add(kDrains, id.text() + " is still pending");
  for (const auto& [id, experiment] : ledger_.experiments) {
    if (experiment.state == hypotheses::ExperimentState::running) {
      add(kDrains, id.text() + " is still running");
    }
  }
  for (const auto& [id, night] : ledger_.nights) {
    if (night.running) add(kDrains, id.text() + " never ended");
  }
  for (const auto& [id, merge] : ledger_.merges) {
    bool between = merge.state == hypotheses::MergeState::preparing ||
                   merge.state == hypotheses::MergeState::measuring ||
                   merge.state == hypotheses::MergeState::approved;
    if (between) add(kDrains, fmt::format("{} is left {}", id.text(), to_text(merge.state)));
  }
  for (const auto& [id, hypothesis] : ledger_.hypotheses) {
    bool between = hypothesis.state == hypotheses::HypothesisState::preparing ||
                   hypothesis.state == hypotheses::HypothesisState::testing;
    if (between) add(kDrains, fmt::format("{} is left {}", id.text(), to_text(hypothesis.state)));
  }
}

}  // namespace orchestrator

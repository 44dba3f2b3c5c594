// Which state may follow which, said once more: the diagrams of docs/glossary.md in one line each.
#include <fmt/format.h>

#include <string_view>

#include "orchestrator/simulator/rules.h"

namespace orchestrator {

using namespace hypotheses;  // the states are this file's subject

namespace {

constexpr std::string_view kHypothesis =
    "queued: preparing testing decided cancelled\n"
    "preparing: testing queued decided cancelled\n"
    "testing: decided queued cancelled\n";
constexpr std::string_view kExperiment = "running: finished cancelled\n";
constexpr std::string_view kCampaign = "active: paused cancelled\npaused: active cancelled\n";
constexpr std::string_view kMerge =
    "preparing: measuring failed rejected\n"
    "measuring: waiting preparing failed rejected\n"
    "waiting: approved preparing rejected failed\n"
    "approved: landed preparing waiting failed\n";

bool allowed(std::string_view table, std::string_view from, std::string_view to) {
  for (std::size_t begin = 0; begin < table.size();) {
    std::size_t end = table.find('\n', begin);
    std::string line(table.substr(begin, end - begin));
    if (line.starts_with(std::string(from) + ":")) {
      return (line + " ").find(" " + std::string(to) + " ") != std::string::npos;
    }
    begin = end + 1;
  }
  return false;
}

struct Check {
  const RuleContext& context;

  template <class Id, class E>
  void move(std::string_view table, Id id, E from, E to) const {
    if (allowed(table, to_text(from), to_text(to))) return;
    context.broken("legal-transitions",
                   fmt::format("{} goes from {} to {}", id.text(), to_text(from), to_text(to)));
  }
  void hypothesis(HypothesisId id, HypothesisState to) const {
    move(kHypothesis, id, context.ledger.hypotheses.at(id).state, to);
  }
  void experiment(ExperimentId id, ExperimentState to) const {
    move(kExperiment, id, context.ledger.experiments.at(id).state, to);
  }
  void merge(MergeRequestId id, MergeState to) const {
    move(kMerge, id, context.ledger.merges.at(id).state, to);
  }

  void operator()(const CampaignChanged& fact) const {
    move(kCampaign, fact.campaign, context.ledger.campaigns.at(fact.campaign).state, fact.state);
  }
  void operator()(const NightEnded& fact) const {
    if (!context.ledger.nights.at(fact.night).running) {
      context.broken("legal-transitions", fact.night.text() + " ends a second time");
    }
  }
  void operator()(const HypothesisMoved& fact) const { hypothesis(fact.hypothesis, fact.state); }
  void operator()(const HypothesisTaken& fact) const {
    hypothesis(fact.hypothesis, HypothesisState::preparing);
  }
  void operator()(const CandidateMade& fact) const {
    hypothesis(fact.hypothesis, HypothesisState::testing);
  }
  void operator()(const HypothesisDecided& fact) const {
    hypothesis(fact.hypothesis, HypothesisState::decided);
  }
  void operator()(const ExperimentFinished& fact) const {
    experiment(fact.experiment, ExperimentState::finished);
  }
  void operator()(const ExperimentCancelled& fact) const {
    experiment(fact.experiment, ExperimentState::cancelled);
  }
  void operator()(const MergeChanged& fact) const { merge(fact.merge, fact.state); }
  void operator()(const MergeApproved& fact) const { merge(fact.merge, MergeState::approved); }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

void check_transitions(const RuleContext& context, const Fact& fact) {
  std::visit(Check{context}, fact);
}

}  // namespace orchestrator

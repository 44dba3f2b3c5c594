#include "orchestrator/orders.h"

#include <algorithm>
#include <map>

#include "orchestrator/planning.h"

namespace orchestrator {

using hypotheses::Hypothesis;
using hypotheses::HypothesisId;

namespace {

// The hypothesis and those it builds on, oldest first.
std::vector<Hypothesis> lineage(const State& state, HypothesisId id) {
  std::vector<Hypothesis> chain;
  for (; id; id = chain.back().parent) chain.push_back(state.hypotheses.at(id));
  std::reverse(chain.begin(), chain.end());
  return chain;
}

bool isolated(const State& state, HypothesisId id) {
  for (; id; id = state.hypotheses.at(id).parent) {
    const auto& change = state.hypotheses.at(id).change;
    if (!change.knobs_only()) return true;
  }
  return false;
}

// The knobs as they end up, then the claims of what is not a knob.
std::string summary_of(const std::vector<Hypothesis>& chain) {
  std::map<std::string, std::string> knobs;
  std::string others;
  for (const Hypothesis& hypothesis : chain) {
    for (const auto& knob : hypothesis.change.knobs) knobs[knob.knob] = knob.value;
    if (hypothesis.change.knobs.empty()) others += (others.empty() ? "" : "; ") + hypothesis.claim;
  }
  std::string summary;
  for (const auto& [knob, value] : knobs) {
    summary += (summary.empty() ? "" : ", ") + knob + " = " + value;
  }
  if (!others.empty()) summary += (summary.empty() ? "" : "; ") + others;
  return summary;
}

struct Make {
  const State& state;

  const hypotheses::Campaign& campaign(hypotheses::CampaignId id) const {
    return state.campaigns.at(id).campaign;
  }
  std::string base_branch(const hypotheses::MergeRequest& merge) const {
    const std::string& base = campaign(merge.campaign).base;
    return base.empty() ? state.nights.at(merge.night).manifest->base : base;
  }

  decltype(Order::what) operator()(const OpenNight& e) const {
    return OpenNightOrder{campaign(e.campaign)};
  }
  decltype(Order::what) operator()(const MakeCandidate& e) const {
    const Hypothesis& hypothesis = state.hypotheses.at(e.hypothesis);
    return CandidateOrder{campaign(hypothesis.campaign).target, hypothesis,
                          state.nights.at(hypothesis.night).manifest};
  }
  decltype(Order::what) operator()(const RunAttempt& e) const {
    const auto& experiment = state.experiments.at(e.experiment).experiment;
    AttemptOrder order;
    order.target = campaign(experiment.campaign).target;
    order.experiment = experiment;
    order.manifest = state.nights.at(experiment.night).manifest;
    order.attempt = e.attempt;
    order.sides = e.sides;
    order.sandbox = state.campaigns.at(experiment.campaign).policy.sandbox;
    if (experiment.hypothesis) {
      order.candidate_isolated = isolated(state, experiment.hypothesis);
      order.base_isolated = isolated(state, state.hypotheses.at(experiment.hypothesis).parent);
    }
    return order;
  }
  decltype(Order::what) operator()(const StopExperiment& e) const {
    return StopOrder{e.experiment};
  }
  decltype(Order::what) operator()(const PrepareMerge& e) const {
    const auto& merge = state.merges.at(e.merge);
    auto chain = lineage(state, merge.hypothesis);
    MergeOrder order{campaign(merge.campaign).target,
                     base_branch(merge),
                     merge,
                     chain.back(),
                     chain,
                     summary_of(chain),
                     state.nights.at(merge.night).night.started};
    return order;
  }
  decltype(Order::what) operator()(const LandMerge& e) const {
    const auto& merge = state.merges.at(e.merge);
    return LandOrder{campaign(merge.campaign).target, base_branch(merge), merge};
  }
  decltype(Order::what) operator()(const AskPlanner& e) const {
    const NightRecord& night = state.nights.at(e.night);
    const CampaignRecord& record = campaign_of(state, night);
    hypotheses::CommitId tree =
        night.incumbent ? state.hypotheses.at(night.incumbent).candidate : night.night.base;
    return PlannerOrder{record.campaign.target, e, view_of(state, night), record.policy, tree};
  }
  decltype(Order::what) operator()(const FetchTarget& e) const {
    return FetchOrder{campaign(e.campaign).target};
  }
};

}  // namespace

const hypotheses::SlurmResources* slurm_of(const AttemptOrder& order) {
  auto probe = order.manifest->probes.find(order.experiment.probe);
  if (order.experiment.question == hypotheses::Question::builds ||
      probe == order.manifest->probes.end() || !probe->second.resources.slurm) {
    return nullptr;
  }
  return &*probe->second.resources.slurm;
}

Order order_of(const State& state, const Effect& effect) {
  return {effect.id, std::visit(Make{state}, effect.kind)};
}

}  // namespace orchestrator

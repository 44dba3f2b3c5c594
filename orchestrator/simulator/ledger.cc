#include "orchestrator/simulator/ledger.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "hypotheses/json.h"

namespace orchestrator {
namespace {

using namespace hypotheses;  // the facts are this file's subject

struct Add {
  Ledger& ledger;

  void operator()(const CampaignCreated& fact) const {
    SeenCampaign seen;
    seen.created = fact.campaign;
    if (auto policy = policies::read_policy(fact.campaign.policy, "policy")) seen.policy = *policy;
    ledger.campaigns[fact.campaign.id] = std::move(seen);
  }
  void operator()(const CampaignChanged& fact) const {
    ledger.campaigns.at(fact.campaign).state = fact.state;
  }
  void operator()(const NightStarted& fact) const {
    SeenNight seen;
    seen.started = fact.night;
    if (auto manifest = read_manifest(fact.night.manifest, std::string(kManifestFile))) {
      seen.manifest = std::make_shared<const Manifest>(std::move(*manifest));
    }
    ledger.nights[fact.night.id] = std::move(seen);
    auto& campaign = ledger.campaigns.at(fact.night.campaign);
    campaign.running = fact.night.id;
    campaign.has_manifest = true;
  }
  void operator()(const NightEnded& fact) const {
    auto& night = ledger.nights.at(fact.night);
    night.running = false;
    ledger.campaigns.at(night.started.campaign).running = {};
  }
  void operator()(const HypothesisOpened& fact) const {
    auto& campaign = ledger.campaigns.at(fact.hypothesis.campaign);
    campaign.level_spent += fact.hypothesis.merge_level / (campaign.confirmed + 1);
    SeenHypothesis seen;
    seen.opened = fact.hypothesis;
    ledger.hypotheses[fact.hypothesis.id] = std::move(seen);
  }
  void operator()(const HypothesisMoved& fact) const {
    ledger.hypotheses.at(fact.hypothesis).state = fact.state;
  }
  void operator()(const HypothesisTaken& fact) const {
    auto& hypothesis = ledger.hypotheses.at(fact.hypothesis);
    hypothesis.state = HypothesisState::preparing;
    hypothesis.opened.night = fact.night;
    hypothesis.base = fact.base;
  }
  void operator()(const CandidateMade& fact) const {
    auto& hypothesis = ledger.hypotheses.at(fact.hypothesis);
    hypothesis.state = HypothesisState::testing;
    hypothesis.candidate = fact.commit;
    hypothesis.paths = fact.paths;
  }
  void operator()(const QuestionAnswered& fact) const {
    ledger.hypotheses.at(fact.hypothesis).answers.push_back(fact.answer);
  }
  void operator()(const HypothesisDecided& fact) const {
    auto& hypothesis = ledger.hypotheses.at(fact.hypothesis);
    hypothesis.state = HypothesisState::decided;
    hypothesis.verdict = fact.verdict;
  }
  void operator()(const ExperimentStarted& fact) const {
    SeenExperiment seen;
    seen.started = fact.experiment;
    ledger.experiments[fact.experiment.id] = std::move(seen);
    ++ledger.nights.at(fact.experiment.night).experiments;
  }
  void operator()(const RunRecorded& fact) const {
    auto& experiment = ledger.experiments.at(fact.run.experiment);
    experiment.runs.push_back(fact.run);
    experiment.cost_s += fact.run.wall_s;
    experiment.attempts = std::max(experiment.attempts, fact.run.attempt + 1);
    ledger.nights.at(experiment.started.night).machine_s += fact.run.wall_s;
  }
  void operator()(const ExperimentFinished& fact) const {
    auto& experiment = ledger.experiments.at(fact.experiment);
    experiment.state = ExperimentState::finished;
    experiment.answer = fact.answer;
    const auto& evidence = fact.answer.evidence;
    if (evidence && evidence->pairs >= 6) {
      saw_noise(experiment.started.campaign, evidence->key, evidence->noise);
    }
  }
  void operator()(const NoiseMeasured& fact) const {
    saw_noise(ledger.nights.at(fact.night).started.campaign, fact.key, fact.noise);
  }
  void operator()(const TimelineRead& fact) const {
    ledger.nights.at(fact.night).has_timeline |= fact.timeline.has_value();
  }
  void saw_noise(CampaignId campaign, const MetricKey& key, double noise) const {
    if (!(noise > 0)) return;
    auto [least, is_new] = ledger.campaigns.at(campaign).least_noise.emplace(to_text(key), noise);
    if (!is_new) least->second = std::min(least->second, noise);
  }
  void operator()(const ExperimentCancelled& fact) const {
    ledger.experiments.at(fact.experiment).state = ExperimentState::cancelled;
  }
  void operator()(const MergeOpened& fact) const {
    SeenMerge seen;
    seen.opened = fact.merge;
    ledger.merges[fact.merge.id] = std::move(seen);
  }
  void operator()(const MergeChanged& fact) const {
    auto& merge = ledger.merges.at(fact.merge);
    bool confirmed = merge.state == MergeState::measuring && fact.state == MergeState::waiting;
    if (confirmed && merge.made == 1) {
      ++ledger.campaigns.at(merge.opened.campaign).confirmed;
    }
    if (fact.state == MergeState::preparing) {
      merge.answers.clear();
      merge.merged = merge.approved = {};
    }
    merge.state = fact.state;
    if (fact.base) merge.base = fact.base;
    if (fact.merged) {
      merge.merged = fact.merged;
      ++merge.made;
    }
  }
  void operator()(const MergeAnswered& fact) const {
    ledger.merges.at(fact.merge).answers.push_back(fact.answer);
  }
  void operator()(const MergeApproved& fact) const {
    auto& merge = ledger.merges.at(fact.merge);
    merge.state = MergeState::approved;
    merge.approved = fact.commit;
  }
  void operator()(const PlannerSpoke& fact) const {
    auto& night = ledger.nights.at(fact.turn.night);
    night.tokens += fact.turn.tokens;
    if (fact.turn.outcome == "failed") ++night.failed_turns;
    if (fact.turn.outcome == "proposed" && fact.turn.planner == "llm") night.failed_turns = 0;
  }
  template <class Other>
  void operator()(const Other&) const {}
};

struct CampaignOf {
  const Ledger& ledger;
  CampaignId operator()(const OpenNight& e) const { return e.campaign; }
  CampaignId operator()(const MakeCandidate& e) const {
    return ledger.hypotheses.at(e.hypothesis).opened.campaign;
  }
  CampaignId operator()(const RunAttempt& e) const {
    return ledger.experiments.at(e.experiment).started.campaign;
  }
  CampaignId operator()(const StopExperiment& e) const {
    return ledger.experiments.at(e.experiment).started.campaign;
  }
  CampaignId operator()(const PrepareMerge& e) const {
    return ledger.merges.at(e.merge).opened.campaign;
  }
  CampaignId operator()(const LandMerge& e) const {
    return ledger.merges.at(e.merge).opened.campaign;
  }
  CampaignId operator()(const AskPlanner& e) const {
    return ledger.nights.at(e.night).started.campaign;
  }
  CampaignId operator()(const FetchTarget& e) const { return e.campaign; }
};

}  // namespace

std::uint64_t hash_with(std::uint64_t hash, const Fact& fact) {
  return base::seed_from(base::seed_from(hash, kind_of(fact)), dump(to_json(fact)));
}

void Ledger::add(const Fact& fact) {
  std::visit(Add{*this}, fact);
  ++facts;
  hash = hash_with(hash, fact);
}

void Ledger::ask(const Effect& effect) {
  pending[effect.id] = effect.kind;
  if (const auto* attempt = std::get_if<RunAttempt>(&effect.kind)) {
    experiments.at(attempt->experiment).asked.insert(attempt->attempt);
  }
}

CampaignId campaign_of(const Ledger& ledger, const EffectKind& effect) {
  return std::visit(CampaignOf{ledger}, effect);
}

}  // namespace orchestrator

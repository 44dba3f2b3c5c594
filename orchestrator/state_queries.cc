// What is asked of the state, and what follows from its fields.
#include <algorithm>

#include "orchestrator/broken_rule.h"
#include "orchestrator/state.h"

namespace orchestrator {

using namespace hypotheses;  // as state.cc

base::Status complete(CampaignRecord& record) {
  const Campaign& campaign = record.campaign;
  NS_ASSIGN(policy, policies::read_policy(campaign.policy, campaign.id.text()));
  record.policy = std::move(policy);
  if (campaign.schedule.empty()) return {};
  NS_ASSIGN(schedule, policies::Schedule::parse(campaign.schedule, campaign.time_zone));
  record.schedule = std::move(schedule);
  return {};
}

base::Status complete(NightRecord& record, const CampaignRecord& campaign) {
  NS_ASSIGN(manifest, read_manifest(record.night.manifest, std::string(kManifestFile)));
  if (!campaign.campaign.goal.metric.empty()) manifest.goal = campaign.campaign.goal;
  manifest.protected_paths.insert(manifest.protected_paths.end(),
                                  campaign.policy.protected_paths.begin(),
                                  campaign.policy.protected_paths.end());
  record.manifest = std::make_shared<const Manifest>(std::move(manifest));
  return {};
}

const CampaignRecord& campaign_of(const State& state, const NightRecord& night) {
  return state.campaigns.at(night.night.campaign);
}

bool is_timeline(const Manifest& manifest, const Experiment& experiment) {
  if (experiment.hypothesis || experiment.merge) return false;
  const auto probe = manifest.probes.find(experiment.probe);
  return probe != manifest.probes.end() && probe->second.answers == ProbeKind::timeline;
}

std::string timeline_name(const std::string& probe, const MetricKey& key) {
  return probe + " of " + to_text(key);
}

bool night_opening(const State& state, CampaignId campaign) {
  return std::any_of(state.pending.begin(), state.pending.end(), [&](const auto& entry) {
    const auto* open = std::get_if<OpenNight>(&entry.second.kind);
    return open != nullptr && open->campaign == campaign;
  });
}

policies::Spend spend_of(const State& state, const NightRecord& night) {
  policies::Spend spend = night.spend;
  for (ExperimentId id : night.running) {
    const Experiment& experiment = state.experiments.at(id).experiment;
    if (broken(Rule::work_in_flight_counts)) continue;
    spend.in_flight_s += std::max(0.0, experiment.estimate_s - experiment.cost_s);
  }
  for (const auto& [id, effect] : state.pending) {
    const auto* ask = std::get_if<AskPlanner>(&effect.kind);
    if (ask != nullptr && ask->night == night.night.id) spend.tokens += ask->reserved_tokens;
  }
  return spend;
}

}  // namespace orchestrator

#include "orchestrator/settled.h"

#include <algorithm>

#include "hypotheses/transitions.h"

namespace orchestrator {

using hypotheses::ExperimentId;
using hypotheses::Hypothesis;
using hypotheses::HypothesisId;
using hypotheses::MergeRequestId;
using hypotheses::NightId;

namespace {

// The nights that pending effects work for.
class NightsAtWork {
 public:
  explicit NightsAtWork(const State& state) : state_(state) {
    for (const auto& [id, effect] : state.pending) std::visit(*this, effect.kind);
  }

  void operator()(const OpenNight&) {}
  void operator()(const MakeCandidate& effect) {
    add(state_.hypotheses, effect.hypothesis, [](const Hypothesis& made) { return made.night; });
  }
  void operator()(const RunAttempt& effect) { add_experiment(effect.experiment); }
  void operator()(const StopExperiment& effect) { add_experiment(effect.experiment); }
  void operator()(const PrepareMerge& effect) { add_merge(effect.merge); }
  void operator()(const LandMerge& effect) { add_merge(effect.merge); }
  void operator()(const AskPlanner& effect) { nights.insert(effect.night); }
  void operator()(const FetchTarget&) {}

  std::set<NightId> nights;

 private:
  template <class Map, class Id, class NightOf>
  void add(const Map& map, Id id, NightOf night_of) {
    if (auto found = map.find(id); found != map.end()) nights.insert(night_of(found->second));
  }
  void add_experiment(ExperimentId id) {
    add(state_.experiments, id, [](const auto& record) { return record.experiment.night; });
  }
  void add_merge(MergeRequestId id) {
    add(state_.merges, id, [](const auto& merge) { return merge.night; });
  }
  const State& state_;
};

bool is_settled(const State& state, const NightRecord& night) {
  if (night.night.state != hypotheses::NightState::ended || !night.running.empty()) return false;
  if (campaign_of(state, night).nights.back() == night.night.id) return false;
  return std::all_of(night.merges.begin(), night.merges.end(), [&](MergeRequestId id) {
    return hypotheses::terminal(state.merges.at(id).state);
  });
}

// Settled nights that were not forgotten yet: those still have their manifest.
std::set<NightId> to_forget(const State& state) {
  std::set<NightId> nights;
  for (const auto& [id, night] : state.nights) {
    if (night.manifest != nullptr && is_settled(state, night)) nights.insert(id);
  }
  for (NightId id : NightsAtWork(state).nights) nights.erase(id);
  for (const auto& [id, campaign] : state.campaigns) {
    for (HypothesisId id : campaign.open) {
      const Hypothesis& open = state.hypotheses.at(id);
      nights.erase(open.night);
      for (const auto& answer : open.answers) {  // the runs behind them may answer more
        auto found = state.experiments.find(answer.experiment);
        if (found != state.experiments.end()) nights.erase(found->second.experiment.night);
      }
    }
  }
  return nights;
}

}  // namespace

void forget_settled(State& state) {
  const std::set<NightId> nights = to_forget(state);
  if (nights.empty()) return;
  std::erase_if(state.experiments, [&](const auto& entry) {
    return nights.count(entry.second.experiment.night) != 0;
  });
  for (auto& [id, hypothesis] : state.hypotheses) {
    if (nights.count(hypothesis.night) == 0) continue;
    hypothesis.answers = {};
    hypothesis.paths = {};
    hypothesis.why_taken = {};
  }
  for (auto& [id, merge] : state.merges) {
    if (nights.count(merge.night) != 0) merge.answers = {};
  }
  for (NightId id : nights) {
    NightRecord kept;
    kept.night = std::move(state.nights.at(id).night);
    kept.night.manifest = {};
    state.nights.at(id) = std::move(kept);
  }
}

}  // namespace orchestrator
